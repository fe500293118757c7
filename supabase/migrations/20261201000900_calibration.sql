-- How off-topic questions score in this knowledge base. kb sync measures it, and the evidence gate of the chat compares each
-- question with it: the same evidence means more in a small knowledge base than in a large one.

create table public.kb_calibration (
  id boolean primary key default true
    constraint kb_calibration_only_one_row check (id),
  model text not null
    constraint kb_calibration_model_not_blank check (model ~ '\S'),
  language text not null
    constraint kb_calibration_language_not_blank check (language ~ '\S'),
  mean double precision not null
    constraint kb_calibration_mean_is_in_range check (mean between -1000 and 1000),
  deviation double precision not null
    constraint kb_calibration_deviation_is_positive check (deviation > 0 and deviation <= 1000),
  questions integer not null
    constraint kb_calibration_questions_positive check (questions > 0),
  updated_at timestamptz not null default now()
);

comment on table public.kb_calibration is
  'What kb sync measured with off-topic questions, whose answers are not in this knowledge base. Without a row, nothing was '
  'measured and the chat uses its default.';
comment on column public.kb_calibration.id is 'Always true: there is at most one row.';
comment on column public.kb_calibration.model is 'Fingerprint of the vectors used for the measurement.';
comment on column public.kb_calibration.language is
  'Language of the questions and of most chunks, as in kb_chunks.language.';
comment on column public.kb_calibration.mean is
  'Median evidence of these questions, in log-odds: what a question without an answer typically reaches.';
comment on column public.kb_calibration.deviation is
  'Standard deviation of their evidence, estimated from the median absolute deviation.';
comment on column public.kb_calibration.questions is 'How many questions were asked.';
comment on column public.kb_calibration.updated_at is 'When it was measured. Set by a trigger.';

revoke all on public.kb_calibration from public, anon, authenticated;
grant all on public.kb_calibration to service_role;
alter table public.kb_calibration enable row level security;

create trigger kb_calibration_set_updated_at
  before update on public.kb_calibration
  for each row execute function internal.set_updated_at();

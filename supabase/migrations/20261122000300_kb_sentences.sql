-- The sentences of each chunk: what an answer quotes, and a finer measure of how well a chunk fits a question.

create table public.kb_sentences (
  chunk_id uuid not null references public.kb_chunks (id) on delete cascade,
  ordinal integer not null
    constraint kb_sentences_ordinal_not_negative check (ordinal >= 0),
  start integer not null,
  "end" integer not null,
  embedding extensions.halfvec(384) not null
    -- Nothing has a cosine with a zero vector.
    constraint kb_sentences_embedding_not_zero check (extensions.l2_norm(embedding) > 0),
  primary key (chunk_id, ordinal),
  constraint kb_sentences_range check (0 <= start and start < "end")
);

comment on table public.kb_sentences is
  'Sentences of a chunk, or what stands for one: a list item, a table row, a code block. Read by match_chunks only.';
comment on column public.kb_sentences.ordinal is 'Position in the chunk, counted from 0.';
comment on column public.kb_sentences.start is
  'First character of the chunk''s content, counted from 0 in code points.';
comment on column public.kb_sentences."end" is 'Character after the last one, counted likewise.';
comment on column public.kb_sentences.embedding is
  'Unit-length vector by the model of the chunk''s own embedding, in half precision: that moves a cosine by less than '
  '0.0001 and halves the largest table.';

create function public.kb_drop_sentences_of_chunk() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  delete from public.kb_sentences where chunk_id = new.id;
  return null;
end
$$;

comment on function public.kb_drop_sentences_of_chunk() is
  'Trigger: offsets into a text that was changed would point at other words.';
revoke all on function public.kb_drop_sentences_of_chunk() from public, anon, authenticated;

create trigger kb_chunks_drop_sentences
  after update of content on public.kb_chunks
  for each row when (old.content is distinct from new.content)
  execute function public.kb_drop_sentences_of_chunk();

-- Users get nothing: match_chunks asks through a helper, for chunks that the user sees.
revoke all on public.kb_sentences from public, anon, authenticated;
grant all on public.kb_sentences to service_role;
alter table public.kb_sentences enable row level security;

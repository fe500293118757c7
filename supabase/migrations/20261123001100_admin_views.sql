-- For the administrator: the documents with what is in them, and how the chat does from day to day.

create view public.kb_overview
  with (security_invoker = true)
as
-- Subqueries instead of joins: what is not asked for is not counted.
select
  d.id,
  d.collection,
  d.source,
  d.meta ->> 'title' as title,
  d.name,
  d.status,
  d.failure,
  d.enabled,
  d.audience,
  d.language,
  (select count(*) from public.kb_chunks c where c.document_id = d.id) as chunks,
  (select count(*) from public.kb_chunks c where c.document_id = d.id and c.stale) as stale_chunks,
  array(
    select distinct e.model
      from public.kb_chunks c
      join public.kb_embeddings e on e.chunk_id = c.id
      where c.document_id = d.id
      order by e.model
  ) as models,
  d.meta ->> 'content_type' as content_type,
  d.meta ->> 'url' as url,
  d.storage_path is not null as has_original,
  (select count(*) from public.chat_messages m where m.cited_documents @> array[d.id]) as times_cited,
  d.created_at,
  d.updated_at
from public.kb_documents d;

comment on view public.kb_overview is 'One row for each document, with what is in it and how often answers cite it.';
comment on column public.kb_overview.id is 'Id of the document, as in kb_documents.';
comment on column public.kb_overview.collection is 'The folder, bucket, site or list it came from.';
comment on column public.kb_overview.source is 'Key of the document: its collection and its path there.';
comment on column public.kb_overview.title is 'Title, if the document has one.';
comment on column public.kb_overview.name is 'File name.';
comment on column public.kb_overview.status is 'pending, ready or failed.';
comment on column public.kb_overview.failure is 'Why it failed.';
comment on column public.kb_overview.enabled is 'Whether searches may find it.';
comment on column public.kb_overview.audience is 'Who sees it; empty (NULL) for everybody.';
comment on column public.kb_overview.language is 'Language of the text.';
comment on column public.kb_overview.chunks is 'Number of passages.';
comment on column public.kb_overview.stale_chunks is
  'Passages that were edited since and are out of every search until kb sync has made their vectors anew.';
comment on column public.kb_overview.models is 'Fingerprints of the models that its vectors are from: one, as a rule.';
comment on column public.kb_overview.content_type is 'Type of the original file, such as application/pdf.';
comment on column public.kb_overview.url is 'Address of the original, if it has one.';
comment on column public.kb_overview.has_original is 'Whether the original file is in the storage bucket "kb".';
comment on column public.kb_overview.times_cited is 'How many answers in the histories cite it.';
comment on column public.kb_overview.created_at is 'When it was first added.';
comment on column public.kb_overview.updated_at is 'When its row last changed.';

create view public.chat_metrics
  with (security_invoker = true)
as
with message as (
  select (m.created_at at time zone 'UTC')::date as day, m.role, m.refusal, m.latency_ms, m.cited_documents, s.user_id
    from public.chat_messages m
    join public.chat_sessions s on s.id = m.session_id
), cited as (
  select m.day, count(distinct c.document_id) as documents
    from message m
    cross join unnest(m.cited_documents) as c(document_id)
    where m.role = 'assistant'
    group by m.day
), daily as (
  select
    m.day,
    count(*) filter (where m.role = 'user') as questions,
    count(*) filter (where m.role = 'assistant' and m.refusal is null) as answers,
    count(m.refusal) as refusals,
    count(distinct m.user_id) filter (where m.role = 'user') as users,
    percentile_cont(array[0.5, 0.95]) within group (order by m.latency_ms) as latency
  from message m
  group by m.day
)
select
  d.day,
  d.questions,
  d.answers,
  d.refusals,
  -- No numeric, which some ways to JSON write as text.
  round(d.answers::numeric / nullif(d.answers + d.refusals, 0), 3)::double precision as answer_rate,
  d.users,
  round(d.latency[1])::integer as latency_p50_ms,
  round(d.latency[2])::integer as latency_p95_ms,
  coalesce(c.documents, 0) as cited_documents
from daily d
left join cited c on c.day = d.day
order by d.day desc;

comment on view public.chat_metrics is 'One row for each day (UTC) on which somebody asked, the last one first.';
comment on column public.chat_metrics.day is 'The day, in UTC.';
comment on column public.chat_metrics.questions is 'Questions asked.';
comment on column public.chat_metrics.answers is 'Questions that were answered.';
comment on column public.chat_metrics.refusals is
  'Questions that were refused, because the knowledge base says too little.';
comment on column public.chat_metrics.answer_rate is 'Share of answers among both, 0 to 1.';
comment on column public.chat_metrics.users is 'Users who asked.';
comment on column public.chat_metrics.latency_p50_ms is
  'Half of the answers took no longer than this, in milliseconds.';
comment on column public.chat_metrics.latency_p95_ms is '95 of 100 answers took no longer than this, in milliseconds.';
comment on column public.chat_metrics.cited_documents is 'Different documents that answers cited.';

comment on column public.content_gaps.group_id is 'Id of the group of similar questions.';
comment on column public.content_gaps.reasons is 'Why they were refused.';
comment on column public.content_gaps.first_asked is 'When it was first asked.';
comment on column public.content_gaps.last_asked is 'When it was last asked.';

revoke all on public.kb_overview, public.chat_metrics from public, anon, authenticated;
grant select on public.kb_overview, public.chat_metrics to service_role;

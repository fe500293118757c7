-- The knowledge base: documents, their chunks, and one embedding for each chunk.
-- Signed-in users read what is ready and enabled; only the service role writes.

create schema if not exists extensions;
create extension if not exists vector with schema extensions;
grant usage on schema extensions to authenticated, service_role;

-- Documents ---------------------------------------------------------------

create table public.kb_documents (
  id uuid primary key default gen_random_uuid(),
  source text not null
    constraint kb_documents_source_not_empty check (source ~ '\S'),
  name text not null
    constraint kb_documents_name_not_empty check (name ~ '\S'),
  status text not null default 'pending'
    constraint kb_documents_status_known check (status in ('pending', 'ready', 'failed')),
  enabled boolean not null default true,
  content_hash text,
  storage_path text,
  meta jsonb not null default '{}'
    constraint kb_documents_meta_is_object check (jsonb_typeof(meta) = 'object'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on table public.kb_documents is
  'Source documents. Search sees a document only while it is ready and enabled.';
comment on column public.kb_documents.source is
  'Key of the document within the knowledge base, for example its path. At most one document per source is ready.';
comment on column public.kb_documents.name is 'File name, shown when the document has no title.';
comment on column public.kb_documents.status is
  'pending while chunks are written, ready once kb_publish_document accepted them, failed if ingestion gave up.';
comment on column public.kb_documents.enabled is 'Switched off here, a document is out of the next search.';
comment on column public.kb_documents.content_hash is
  'Hash of the ingested content, so that an unchanged document is not embedded again.';
comment on column public.kb_documents.storage_path is 'Path of the original file in the storage bucket "kb", if it was stored.';
comment on column public.kb_documents.meta is 'Optional keys: title, url, content_type.';

create unique index kb_documents_one_ready_per_source
  on public.kb_documents (source) where status = 'ready';
create index kb_documents_source_idx on public.kb_documents (source);

-- Chunks ------------------------------------------------------------------

create table public.kb_chunks (
  id uuid primary key default gen_random_uuid(),
  document_id uuid not null references public.kb_documents (id) on delete cascade,
  ordinal integer not null
    constraint kb_chunks_ordinal_not_negative check (ordinal >= 0),
  content text not null
    constraint kb_chunks_content_not_empty check (content ~ '\S'),
  meta jsonb not null default '{}'
    constraint kb_chunks_meta_is_object check (jsonb_typeof(meta) = 'object'),
  constraint kb_chunks_ordinal_unique unique (document_id, ordinal)
);

comment on table public.kb_chunks is 'Passages of a document, in reading order: the unit that is searched and cited.';
comment on column public.kb_chunks.ordinal is 'Position in the document, counted from 0.';
comment on column public.kb_chunks.meta is 'Optional keys: section, page, url.';

-- Embeddings --------------------------------------------------------------

create table public.kb_embeddings (
  chunk_id uuid primary key references public.kb_chunks (id) on delete cascade,
  embedding extensions.vector(384) not null,
  model text not null
    constraint kb_embeddings_model_not_empty check (model ~ '\S'),
  searchable boolean not null default false
);

comment on table public.kb_embeddings is 'One unit-length vector for each chunk.';
comment on column public.kb_embeddings.model is
  'Fingerprint of the embedder. Vectors of different fingerprints must not be compared.';
comment on column public.kb_embeddings.searchable is
  'Copy of "the document is ready and enabled", kept by triggers; whatever is written here is overridden.';

-- Only what may be found is in the vector index: filtered afterwards instead, a scan that meets thousands of closer
-- vectors of disabled documents ends before it reaches the visible ones.
create index kb_embeddings_searchable_hnsw
  on public.kb_embeddings using hnsw (embedding extensions.vector_cosine_ops)
  where searchable;

-- Lets match_chunks see at once how many vectors there are to search.
create index kb_embeddings_searchable_idx on public.kb_embeddings (chunk_id) where searchable;

-- updated_at --------------------------------------------------------------

create function public.set_updated_at() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  new.updated_at := now();
  return new;
end
$$;

comment on function public.set_updated_at() is 'Trigger: stamps updated_at on every update of the row.';
revoke all on function public.set_updated_at() from public, anon, authenticated;

create trigger kb_documents_set_updated_at
  before update on public.kb_documents
  for each row execute function public.set_updated_at();

-- Privileges and row level security ---------------------------------------

revoke all on public.kb_documents, public.kb_chunks, public.kb_embeddings from public, anon, authenticated;
grant select on public.kb_documents, public.kb_chunks, public.kb_embeddings to authenticated;
grant all on public.kb_documents, public.kb_chunks, public.kb_embeddings to service_role;

alter table public.kb_documents enable row level security;
alter table public.kb_chunks enable row level security;
alter table public.kb_embeddings enable row level security;

create policy kb_documents_read_visible on public.kb_documents
  for select to authenticated
  using (status = 'ready' and enabled);

create policy kb_chunks_read_visible on public.kb_chunks
  for select to authenticated
  using (exists (
    select from public.kb_documents d
    where d.id = kb_chunks.document_id and d.status = 'ready' and d.enabled
  ));

create policy kb_embeddings_read_visible on public.kb_embeddings
  for select to authenticated
  using (searchable);

comment on policy kb_documents_read_visible on public.kb_documents is 'Users see ready and enabled documents.';
comment on policy kb_chunks_read_visible on public.kb_chunks is 'Users see the chunks of documents they see.';
comment on policy kb_embeddings_read_visible on public.kb_embeddings is 'Users see the embeddings of chunks they see.';

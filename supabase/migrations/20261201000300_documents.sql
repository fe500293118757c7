-- The knowledge base: documents, their chunks, and the vectors of each chunk, of its sentences and of its heading. Only the
-- service role reads and writes the tables. Signed-in users see documents that are ready, enabled and for them, and only through
-- functions that run as evidence_chat, to which these policies apply, so no user can copy the knowledge base page by page.

-- Documents ---------------------------------------------------------------

create table public.kb_documents (
  id uuid primary key default gen_random_uuid(),
  source text not null
    constraint kb_documents_source_not_blank check (source ~ '\S'),
  collection text generated always as (split_part(source, '/', 1)) stored,
  name text not null
    constraint kb_documents_name_not_blank check (name ~ '\S')
    constraint kb_documents_name_length check (char_length(name) <= 300),
  status text not null default 'pending'
    constraint kb_documents_status_valid check (status in ('pending', 'ready', 'failed')),
  failure text,
  enabled boolean not null default true,
  audience text[]
    constraint kb_documents_audience_is_null_for_the_default_and_never_empty check (audience <> '{}')
    constraint kb_documents_audience_entries_are_claim_colon_value check (internal.kb_is_valid_audience(audience))
    constraint kb_documents_audience_claims_are_not_user_editable check (internal.kb_has_only_trusted_claims(audience)),
  language text not null default 'english',
  content_hash text,
  source_version text,
  written_hash text,
  sketch bigint[],
  former_sketch bigint[] not null default '{}',
  failed_at timestamptz,
  failed_version text,
  storage_path text
    -- If two documents shared a file, a visible one would expose the file of a hidden one. Deferred, because
    -- kb_publish_document moves the file from one row to another.
    constraint kb_documents_storage_path_unique unique deferrable initially deferred
    -- The path becomes part of a URL, where empty, `.` and `..` segments would change its meaning.
    constraint kb_documents_storage_path_is_normalized
      check (storage_path !~ '(^|/)\.{0,2}(/|$)' and octet_length(storage_path) <= 1024),
  meta jsonb not null default '{}'
    constraint kb_documents_meta_is_object check (jsonb_typeof(meta) = 'object')
    constraint kb_documents_meta_size check (octet_length(meta::text) <= 8192)
    constraint kb_documents_title_length check (char_length(meta ->> 'title') <= 300)
    constraint kb_documents_url_size check (octet_length(meta ->> 'url') <= 2000),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

comment on table public.kb_documents is
  'Source documents. Search sees a document only while it is ready and enabled.';
comment on column public.kb_documents.id is
  'Id of the document. Stored citations refer to it, so it stays the same when the document is replaced.';
comment on column public.kb_documents.source is
  'Key of the document within the knowledge base: its collection and its path there, such as handbook/travel.md. At most '
  'one document per source is ready.';
comment on column public.kb_documents.collection is
  'First part of source: the documents that kb sync keeps equal to one folder, bucket, site or list. Generated from source.';
comment on column public.kb_documents.name is
  'File name, shown when the document has no title. Defaults to the last part of source.';
comment on column public.kb_documents.status is
  'pending while chunks are written, ready once kb_publish_document has accepted them, failed if ingestion failed.';
comment on column public.kb_documents.failure is
  'Why its newest version could not be read, in one sentence. If status is ready, the version before is still served. Otherwise '
  'empty (NULL).';
comment on column public.kb_documents.enabled is 'Set to false to remove the document from search, from the next question on.';
comment on column public.kb_documents.audience is
  'Who can see the document. Empty (NULL): chat_settings.default_audience. A list: only users with one of these claims in their '
  'token, '
  'each as claim:value, for example ["team:sales"] for app_metadata {"team": "sales"} or {"team": ["sales", "it"]}.';
comment on column public.kb_documents.language is
  'Language of the text: a text search configuration of Postgres ("german") or an ISO 639-1 code ("de", "de-AT"). '
  'Text in any other language is searched without stemming or stop words.';
comment on column public.kb_documents.content_hash is
  'Hash of the ingested content, so that an unchanged document is not embedded again.';
comment on column public.kb_documents.source_version is
  'Version reported by the source, such as an ETag, so that kb sync need not read unchanged content.';
comment on column public.kb_documents.written_hash is
  'Hash of what kb sync made of the content, so that a page whose bytes alone changed is not written again.';
comment on column public.kb_documents.sketch is
  'A sample of hashes of its text. Two documents share as much of their samples as of their texts, about.';
comment on column public.kb_documents.former_sketch is
  'The samples of its earlier versions, while it is hidden or restricted.';
comment on column public.kb_documents.failed_at is 'Since when its newest version cannot be read. Empty (NULL) without a failure.';
comment on column public.kb_documents.failed_version is
  'content_hash or source_version of what cannot be read, so that kb sync need not read it again.';
comment on column public.kb_documents.storage_path is
  'Path of the original file in the storage bucket "kb", without the name of the bucket. Empty (NULL) if it was not stored. No '
  'two documents share a file.';
comment on column public.kb_documents.meta is 'Optional keys: title, url, content_type.';
comment on column public.kb_documents.created_at is 'When the document was first added.';
comment on column public.kb_documents.updated_at is 'When the row last changed. Set by a trigger.';

create unique index kb_documents_one_ready_per_source
  on public.kb_documents (source) where status = 'ready';
create index kb_documents_source_idx on public.kb_documents (source);
create index kb_documents_collection_idx on public.kb_documents (collection, id);
-- Answers quickly whether any document is restricted.
create index kb_documents_restricted_idx on public.kb_documents (id) where audience is not null;

-- Immutable for the index. to_jsonb is not, because of other types than text.
create function internal.kb_is_restricted(enabled boolean, audience text[], meta jsonb) returns boolean
  language sql immutable
  return not enabled or audience is not null and (meta -> 'audience') is distinct from to_jsonb(audience);

comment on function internal.kb_is_restricted is
  'Whether an administrator hid a document or gave it an audience that its source does not state '
  '(meta.audience).';

grant execute on function internal.kb_is_restricted to service_role;

-- Finds what a new document may be a copy of.
create index kb_documents_restricted_sketch_idx
  on public.kb_documents using gin ((sketch || former_sketch)) with (fastupdate = off)
  where internal.kb_is_restricted(enabled, audience, meta);
-- Finds what is not as new as its source.
create index kb_documents_failure_idx on public.kb_documents (collection) where failure is not null;
-- Finds the last changed document without reading all of them.
create index kb_documents_visible_recent_idx
  on public.kb_documents (updated_at desc)
  where status = 'ready' and enabled;

revoke all on public.kb_documents from public, anon, authenticated;
grant select on public.kb_documents to evidence_chat;
grant all on public.kb_documents to service_role;
alter table public.kb_documents enable row level security;

create policy kb_documents_read_visible on public.kb_documents
  for select to evidence_chat
  using (
    status = 'ready' and enabled
    -- "(select …)" is evaluated once per query instead of once per row.
    and (
      audience is null and (select internal.kb_is_in_default_audience())
      or audience && (select internal.kb_caller_audiences())
    )
  );

comment on policy kb_documents_read_visible on public.kb_documents is
  'Users see ready and enabled documents that are for one of their audiences.';

create trigger kb_documents_set_updated_at
  before update on public.kb_documents
  for each row execute function internal.set_updated_at();

create trigger kb_documents_lock
  before update or delete on public.kb_documents
  for each statement execute function internal.kb_lock_before_write();

create function internal.kb_set_default_name() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if new.name is null or new.name !~ '\S' then
    -- The last part, without the trailing slashes of a URL. A source of slashes only is its own name.
    new.name := coalesce(substring(new.source from '([^/]*[^/\s][^/]*)/*\s*$'), new.source);
  end if;
  return new;
end
$$;

comment on function internal.kb_set_default_name is
  'Trigger: names a document without a name after the last part of its source.';

create trigger kb_documents_default_name
  before insert or update of name on public.kb_documents
  for each row execute function internal.kb_set_default_name();

-- Chunks ------------------------------------------------------------------

create table public.kb_chunks (
  id uuid primary key default gen_random_uuid(),
  document_id uuid not null references public.kb_documents (id) on delete cascade,
  ordinal integer not null
    constraint kb_chunks_ordinal_not_negative check (ordinal >= 0),
  content text not null
    constraint kb_chunks_content_not_blank check (content ~ '\S')
    -- These limits bound what is shown of a passage, stored with an answer or read for a question (limits.rs).
    constraint kb_chunks_content_size check (octet_length(content) <= 4096),
  meta jsonb not null default '{}'
    constraint kb_chunks_meta_is_object check (jsonb_typeof(meta) = 'object')
    constraint kb_chunks_meta_size check (octet_length(meta::text) <= 8192)
    constraint kb_chunks_section_size check (octet_length(meta ->> 'section') <= 1000)
    constraint kb_chunks_url_size check (octet_length(meta ->> 'url') <= 2000),
  stale boolean not null default false,
  searchable boolean not null default false,
  audience text[],
  collection text not null,
  language text not null,
  fts tsvector not null,
  -- Only the rows that a search returns read these two, so they follow the columns that ranking reads.
  parts jsonb not null default '[]'
    constraint kb_chunks_parts_is_list check (jsonb_typeof(parts) = 'array')
    constraint kb_chunks_parts_size check (octet_length(parts::text) <= 16384),
  blocks jsonb
    constraint kb_chunks_blocks_is_object check (jsonb_typeof(blocks) = 'object')
    constraint kb_chunks_blocks_size check (octet_length(blocks::text) <= 8192),
  constraint kb_chunks_ordinal_unique unique (document_id, ordinal)
);

-- For one question, ranking reads fts of hundreds of chunks but content of only a few, so fts stays in the row.
alter table public.kb_chunks alter column fts set storage main;

comment on table public.kb_chunks is 'Passages of documents, in reading order. A chunk is the unit that is searched and cited.';
comment on column public.kb_chunks.id is 'Id of the chunk.';
comment on column public.kb_chunks.document_id is 'The document of the chunk. Deleting the document deletes the chunk.';
comment on column public.kb_chunks.ordinal is
  'Position in the document, counted from 0. Defaults to the end of the document.';
comment on column public.kb_chunks.content is
  'The text. Editing it removes the chunk from search until kb sync has made new vectors.';
comment on column public.kb_chunks.meta is 'Optional keys: section, page, url.';
comment on column public.kb_chunks.stale is
  'Whether content, meta.section or the text of a part above it was edited after the vectors were made. Search skips a stale chunk '
  'until kb sync has made new vectors. Set by a trigger; only new vectors clear it.';
comment on column public.kb_chunks.searchable is
  'Whether the default audience can find the chunk: its document is ready, enabled and has no audience, and the chunk is not '
  'stale. Set by triggers, which override values written here.';
comment on column public.kb_chunks.audience is
  'The audience of the document, if the document is ready and enabled and the chunk is not stale. Set by triggers, which '
  'override values written here.';
comment on column public.kb_chunks.collection is
  'The collection of the document. Set by triggers, which override values written here.';
comment on column public.kb_chunks.language is
  'Text search configuration of fts, from the language of the document. Set by triggers, which override values written here.';
comment on column public.kb_chunks.fts is
  'Lexemes of meta.section, the texts of parts above it and content, in the language of the document. Set by triggers, which '
  'override values written here.';
comment on column public.kb_chunks.parts is
  'The parts of the document that give the sentences of the chunk their meaning, verbatim, each once: [{"role": "lead_in", "text": '
  '"Not covered:", "start": 120}]. kb_sentences.chain names them by position. role: notice, heading, question, label, lead_in, parent, '
  'group, row_label, column, antecedent, exception or condition. start: first character in the text of the document, counted from 0 '
  'in code points. A column also has cell: the cell that it names, from 0. is_above: true if the part lies outside the passage and '
  'holds from its start; its text is searched like meta.section. When content is edited, a trigger drops the other parts.';
comment on column public.kb_chunks.blocks is
  'How content is laid out: {"blocks": [{"kind": "paragraph", "start": 0, "end": 31}], "marks": [{"kind": "strong", "start": 2, '
  '"end": 5}]}, with offsets in UTF-16 code units of content. Only for display. Empty (NULL) if unknown; a trigger empties it when '
  'content is edited.';

-- Chunks for the default audience and restricted chunks are in separate indexes. No pending list (fastupdate): every search would
-- read all of it, and only a vacuum empties it. Collection, audience and words in one index, so that words which are common in
-- documents that the search may not return cost nothing. The collection as a list, because GIN has no operators for a single text.
create index kb_chunks_searchable_fts
  on public.kb_chunks using gin ((array[collection]), fts) with (fastupdate = off)
  where searchable;
create index kb_chunks_restricted_fts
  on public.kb_chunks using gin ((array[collection]), audience, fts) with (fastupdate = off)
  where audience is not null;
-- For kb sync and the administrator.
create index kb_chunks_stale_idx on public.kb_chunks (document_id) where stale;

revoke all on public.kb_chunks from public, anon, authenticated;
grant select on public.kb_chunks to evidence_chat;
grant all on public.kb_chunks to service_role;
alter table public.kb_chunks enable row level security;

-- The policy of kb_documents applies to the subquery, and so does the audience.
create policy kb_chunks_read_visible on public.kb_chunks
  for select to evidence_chat
  using (exists (
    select from public.kb_documents d
    where d.id = kb_chunks.document_id and d.status = 'ready' and d.enabled
  ));

comment on policy kb_chunks_read_visible on public.kb_chunks is 'Users see the chunks of documents that they can see.';

create trigger kb_chunks_lock
  before update or delete on public.kb_chunks
  for each statement execute function internal.kb_lock_before_write();

create function internal.kb_set_default_ordinal() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  select coalesce(max(c.ordinal) + 1, 0) into new.ordinal
    from public.kb_chunks c
    where c.document_id = new.document_id;
  return new;
end
$$;

comment on function internal.kb_set_default_ordinal is
  'Trigger: puts a chunk without an ordinal at the end of its document.';

create trigger kb_chunks_default_ordinal
  before insert on public.kb_chunks
  for each row when (new.ordinal is null)
  execute function internal.kb_set_default_ordinal();

-- Embeddings --------------------------------------------------------------

create table public.kb_embeddings (
  chunk_id uuid primary key references public.kb_chunks (id) on delete cascade,
  embedding extensions.vector(384) not null,
  model text not null
    constraint kb_embeddings_model_not_blank check (model ~ '\S'),
  searchable boolean not null default false,
  audience text[],
  collection text not null
);

comment on table public.kb_embeddings is 'One unit-length vector for each chunk.';
comment on column public.kb_embeddings.chunk_id is 'The chunk.';
comment on column public.kb_embeddings.embedding is 'Vector of meta.section, the texts of parts above it and content, of unit length.';
comment on column public.kb_embeddings.model is
  'Fingerprint of the embedder. Vectors of different fingerprints must not be compared.';
comment on column public.kb_embeddings.searchable is
  'Copy of kb_chunks.searchable, set by triggers, which override values written here.';
comment on column public.kb_embeddings.audience is
  'Copy of kb_chunks.audience, set by triggers, which override values written here.';
comment on column public.kb_embeddings.collection is
  'Copy of kb_chunks.collection, set by triggers, which override values written here.';

-- The vector indexes contain only vectors that a search may return. If results were filtered afterwards, a scan that meets
-- thousands of closer vectors of disabled documents would end before it reaches visible ones. In half precision, which halves the
-- indexes, the memory to search and to build them, and changes a cosine by less than 0.0001; match_chunks computes the cosines of
-- what it finds from the vectors themselves. With twice pgvector's ef_construction, a search of a million vectors finds as much with
-- 300 candidates as with 800 by the default. A vector takes longer to write, but still far less than it takes to compute.
create index kb_embeddings_searchable_hnsw
  on public.kb_embeddings using hnsw ((embedding::extensions.halfvec(384)) extensions.halfvec_cosine_ops)
  with (ef_construction = 128)
  where searchable;
create index kb_embeddings_restricted_hnsw
  on public.kb_embeddings using hnsw ((embedding::extensions.halfvec(384)) extensions.halfvec_cosine_ops)
  with (ef_construction = 128)
  where audience is not null;
-- For small knowledge bases and small collections, whose vectors are compared one by one.
create index kb_embeddings_searchable_idx on public.kb_embeddings (collection, chunk_id) where searchable;
-- For kb_chunks_to_embed: all chunks of a model share an entry, so it is small.
create index kb_embeddings_model_idx on public.kb_embeddings (model);
create index kb_embeddings_audience_idx
  on public.kb_embeddings using gin (audience, (array[collection])) with (fastupdate = off)
  where audience is not null;

revoke all on public.kb_embeddings from public, anon, authenticated;
grant select on public.kb_embeddings to evidence_chat;
grant all on public.kb_embeddings to service_role;
alter table public.kb_embeddings enable row level security;

create policy kb_embeddings_read_visible on public.kb_embeddings
  for select to evidence_chat
  using (
    searchable and (select internal.kb_is_in_default_audience())
    or audience && (select internal.kb_caller_audiences())
  );

comment on policy kb_embeddings_read_visible on public.kb_embeddings is 'Users see the embeddings of chunks that they can find.';

create trigger kb_embeddings_lock
  before update or delete on public.kb_embeddings
  for each statement execute function internal.kb_lock_before_write();

-- Sentences ---------------------------------------------------------------

-- Answers quote sentences, and their vectors measure more finely than the chunk's how well it fits a question. "Theft" means nothing
-- without the "Not covered:" above it, so each sentence has a chain of what gives it its meaning.
create table public.kb_sentences (
  chunk_id uuid not null references public.kb_chunks (id) on delete cascade,
  ordinal integer not null
    constraint kb_sentences_ordinal_is_0_to_255 check (ordinal between 0 and 255),
  start integer not null,
  "end" integer not null,
  embedding extensions.halfvec(384) not null
    -- The cosine with a zero vector is undefined.
    constraint kb_sentences_embedding_not_zero check (extensions.l2_norm(embedding) > 0),
  kind text not null
    constraint kb_sentences_kind_valid check (kind in ('sentence', 'row', 'code')),
  chain smallint[] not null default '{}'
    -- Of an empty array, it is null.
    constraint kb_sentences_chain_is_list check (array_ndims(chain) = 1)
    constraint kb_sentences_chain_size check (cardinality(chain) <= 24)
    constraint kb_sentences_chain_not_negative check ((0 <= all (chain)) is true),
  primary key (chunk_id, ordinal),
  constraint kb_sentences_range check (0 <= start and start < "end")
);

comment on table public.kb_sentences is
  'Sentences of a chunk, and its list items, table rows and code blocks. Read by match_chunks only.';
comment on column public.kb_sentences.chunk_id is 'The chunk.';
comment on column public.kb_sentences.ordinal is 'Position in the chunk, counted from 0.';
comment on column public.kb_sentences.start is
  'First character of the chunk''s content, counted from 0 in code points.';
comment on column public.kb_sentences."end" is 'End of the sentence (exclusive), counted in the same way.';
comment on column public.kb_sentences.embedding is
  'Unit-length vector by the model of the chunk''s own embedding, in half precision: that moves a cosine by less than '
  '0.0001 and halves the largest table.';
comment on column public.kb_sentences.kind is
  'sentence (also a list item), row (of a table, with a tab between cells) or code (a block). Decides how it is shown.';
comment on column public.kb_sentences.chain is
  'What gives the sentence its meaning: positions in kb_chunks.parts, counted from 0, in the order in which they are shown.';

-- Users have no access. match_chunks reads the table through a helper, for chunks that the user can see.
revoke all on public.kb_sentences from public, anon, authenticated;
grant all on public.kb_sentences to service_role;
alter table public.kb_sentences enable row level security;

create function internal.kb_delete_chunk_sentences() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  delete from public.kb_sentences where chunk_id = new.id;
  return null;
end
$$;

comment on function internal.kb_delete_chunk_sentences is
  'Trigger: deletes the sentences of an edited chunk, because their offsets no longer match its '
  'text.';

create trigger kb_chunks_delete_sentences
  after update of content on public.kb_chunks
  for each row when (old.content is distinct from new.content)
  execute function internal.kb_delete_chunk_sentences();

-- Headings ----------------------------------------------------------------

-- A heading that paraphrases the question ("Can I send something back?") is a stronger signal than the passage below it, so each
-- chunk has a vector of its last heading.
create table public.kb_headings (
  chunk_id uuid primary key references public.kb_chunks (id) on delete cascade,
  embedding extensions.halfvec(384) not null
    -- The cosine with a zero vector is undefined.
    constraint kb_headings_embedding_not_zero check (extensions.l2_norm(embedding) > 0)
);

comment on table public.kb_headings is
  'The innermost heading above each chunk that has one. Used to find passages, never quoted. Read by match_chunks only.';
comment on column public.kb_headings.chunk_id is 'The chunk below the heading.';
comment on column public.kb_headings.embedding is
  'Unit-length vector by the model of the chunk''s own embedding, in half precision, as in kb_sentences.';

-- As for kb_sentences.
revoke all on public.kb_headings from public, anon, authenticated;
grant all on public.kb_headings to service_role;
alter table public.kb_headings enable row level security;

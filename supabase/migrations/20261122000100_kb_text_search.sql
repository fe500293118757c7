-- Full-text search over chunks: each document names its language, each chunk carries its words.

-- Helpers that only other functions of the database call. PostgREST exposes `public` alone, so nobody reaches this
-- schema through the API, whatever they may execute in it.
create schema internal;
comment on schema internal is
  'Helpers of the functions in public. Not part of the API: never add it to the exposed schemas.';
grant usage on schema internal to authenticated, service_role;

-- Language of a document --------------------------------------------------

alter table public.kb_documents add column language text not null default 'english';

comment on column public.kb_documents.language is
  'Language of the text: a text search configuration of Postgres ("german") or an ISO 639-1 code ("de", "de-AT"). '
  'Anything else is searched word for word, without stemming or stop words.';

create function internal.kb_text_search_config(language text) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  iso_names constant jsonb := '{
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "da": "danish", "nl": "dutch",
    "en": "english", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german", "el": "greek",
    "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian",
    "ru": "russian", "sr": "serbian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    "yi": "yiddish"}';
  -- "de-AT" and "pt_BR" are German and Portuguese.
  name text := lower(substring(language from '^\s*([[:alpha:]]+)'));
begin
  name := coalesce(iso_names ->> name, name);
  -- Which languages there are depends on the version of Postgres.
  perform from pg_catalog.pg_ts_config c
    where c.cfgname = name and c.cfgnamespace = 'pg_catalog'::regnamespace;
  return case when found then name else 'simple' end;
end
$$;

comment on function internal.kb_text_search_config(text) is
  'Name of the text search configuration for a language; simple for an unknown one.';

-- Words of a chunk --------------------------------------------------------

alter table public.kb_chunks
  add column searchable boolean not null default false,
  -- Filled below and then required.
  add column language text,
  add column fts tsvector;

comment on column public.kb_chunks.searchable is
  'Copy of "the document is ready and enabled", kept by triggers; whatever is written here is overridden.';
comment on column public.kb_chunks.language is
  'Text search configuration that fts was made with; follows the document, whatever is written here is overridden.';
comment on column public.kb_chunks.fts is
  'Lexemes of meta.section and content, in the language of the document; whatever is written here is overridden.';

-- Bound when it is made and without a search_path of its own, so that it is inlined where it is called.
create function internal.kb_fold_accents(language text, words text) returns text
  language sql
  immutable
  return case
    when octet_length(words) = char_length(words) then words
    -- Stemmers that know accents know them as one character with its letter.
    when language not in ('english', 'simple') then normalize(words, NFC)
    else normalize(regexp_replace(normalize(words, NFD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'), NFC)
  end;

comment on function internal.kb_fold_accents(text, text) is
  'Takes accents off Latin letters in English texts, whose readers ask for "Celeron" and mean "Céloron". '
  'Elsewhere it only writes them in one way.';

create function internal.kb_chunk_fts(language text, section text, content text) returns tsvector
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  -- Up to this many bytes a tsvector stays below its limit of 1 MB, whatever the text. No exception block for those:
  -- each costs a subtransaction.
  always_fits constant integer := 200000;
  document text := internal.kb_fold_accents(language, concat_ws(E'\n', section, content));
begin
  if octet_length(document) <= always_fits then
    return to_tsvector(language::regconfig, document);
  end if;
  -- A longer text is searched by its beginning, as much of it as fits.
  loop
    begin
      return to_tsvector(language::regconfig, document);
    exception when program_limit_exceeded then
      document := left(document, length(document) / 2);
    end;
  end loop;
end
$$;

comment on function internal.kb_chunk_fts(text, text, text) is 'Lexemes of a chunk. Never fails on a long text.';

create function public.kb_set_chunk_search() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
begin
  -- A chunk that comes to a document makes a simultaneous change of the document wait; it would not see this row yet
  -- and leave it stale. One that was there is found and waited for by such a change, so there is no lock for it: taken
  -- after the chunk's own, it would deadlock with a change that has the document and goes on to its chunks.
  if tg_op = 'INSERT' or old.document_id <> new.document_id then
    perform from public.kb_documents d where d.id = new.document_id for share;
  end if;
  select d.status = 'ready' and d.enabled, internal.kb_text_search_config(d.language)
    into new.searchable, new.language
    from public.kb_documents d
    where d.id = new.document_id;
  new.searchable := coalesce(new.searchable, false);
  new.language := coalesce(new.language, 'simple');
  if tg_op = 'UPDATE'
    and (old.language, old.content, old.meta ->> 'section')
      is not distinct from (new.language, new.content, new.meta ->> 'section')
  then
    new.fts := old.fts;
  else
    new.fts := internal.kb_chunk_fts(new.language, new.meta ->> 'section', new.content);
  end if;
  return new;
end
$$;

comment on function public.kb_set_chunk_search() is
  'Trigger: works out searchable, language and fts of a chunk from its document and its text.';

create trigger kb_chunks_set_search
  before insert or update on public.kb_chunks
  for each row execute function public.kb_set_chunk_search();

create function public.kb_touch_chunks_of_document() returns trigger
  language plpgsql
  security invoker
  set search_path = ''
as $$
declare
  config text := internal.kb_text_search_config(new.language);
begin
  -- Only touches the rows: the chunk's own trigger works their values out.
  update public.kb_chunks c
    set searchable = c.searchable
    where c.document_id = new.id
      and (c.searchable, c.language) <> (new.status = 'ready' and new.enabled, config);
  return null;
end
$$;

comment on function public.kb_touch_chunks_of_document() is
  'Trigger: a document that appears, disappears or changes its language takes its chunks along.';

create trigger kb_documents_touch_chunks
  after update of status, enabled, language on public.kb_documents
  for each row execute function public.kb_touch_chunks_of_document();

-- A knowledge base from before this migration.
update public.kb_chunks set searchable = searchable;
alter table public.kb_chunks
  alter column language set not null,
  alter column fts set not null;

-- Ranking reads fts of hundreds of chunks for one question, and content of a few: fts stays in the row.
alter table public.kb_chunks alter column fts set storage main;

-- No pending list (fastupdate): every search would read it from end to end, and only a vacuum empties it.
create index kb_chunks_searchable_fts
  on public.kb_chunks using gin (fts) with (fastupdate = off)
  where searchable;

revoke all on function public.kb_set_chunk_search() from public, anon, authenticated;
revoke all on function public.kb_touch_chunks_of_document() from public, anon, authenticated;
revoke all on function internal.kb_text_search_config(text) from public;
revoke all on function internal.kb_fold_accents(text, text) from public;
revoke all on function internal.kb_chunk_fts(text, text, text) from public;
-- The triggers run them as whoever writes.
grant execute on function internal.kb_text_search_config(text) to service_role;
grant execute on function internal.kb_fold_accents(text, text) to service_role;
grant execute on function internal.kb_chunk_fts(text, text, text) to service_role;

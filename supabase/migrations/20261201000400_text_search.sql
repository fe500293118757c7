-- Words: each document names its language, each chunk carries its lexemes, and a table counts in how many chunks each lexeme
-- is, so that a rare word weighs more than a common one.

-- Language of a document --------------------------------------------------

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

revoke all on function internal.kb_text_search_config(text) from public;
-- The triggers of kb_chunks and kb_documents run it as the role that writes.
grant execute on function internal.kb_text_search_config(text) to service_role;

-- Words of a chunk --------------------------------------------------------

-- Parsed when it is created (`return`) and without a search_path of its own, so that calls of it are inlined.
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

revoke all on function internal.kb_fold_accents(text, text) from public;
-- kb_chunk_fts runs it as the role that writes.
grant execute on function internal.kb_fold_accents(text, text) to service_role;

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

revoke all on function internal.kb_chunk_fts(text, text, text) from public;
-- The trigger of kb_chunks runs it as the role that writes.
grant execute on function internal.kb_chunk_fts(text, text, text) to service_role;

-- Counts of lexemes -------------------------------------------------------

create table public.kb_lexemes (
  lexeme text not null,
  language text not null,
  chunks bigint not null,
  primary key (lexeme, language)
)
-- Counts change often and are in no index, so with room on its page a new version of a row stays there.
with (fillfactor = 80);

comment on table public.kb_lexemes is
  'Number of chunks by lexeme and language, kept by triggers on kb_chunks: of those that everybody finds. Two '
  'lexemes that no text has count the chunks themselves: a space those that everybody finds, the empty one all.';
comment on column public.kb_lexemes.lexeme is
  'Word as the text search configuration reduces it; a space or empty for the chunks themselves.';
comment on column public.kb_lexemes.language is 'Text search configuration, as in kb_chunks.language.';
comment on column public.kb_lexemes.chunks is 'Number of chunks that have it.';

-- Users get nothing: match_chunks asks through a helper. Not even the service role writes, only the triggers do, with
-- the rights of the owner.
revoke all on public.kb_lexemes from public, anon, authenticated, service_role;
grant select on public.kb_lexemes to service_role;
alter table public.kb_lexemes enable row level security;

create function internal.kb_add_to_lexemes(lexemes text[], languages text[], changes bigint[]) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  if lexemes is null then
    return;
  end if;
  -- New chunks of a document that is seen already come here without it.
  perform internal.kb_lock();
  insert into public.kb_lexemes as k (lexeme, language, chunks)
    select c.lexeme, c.language, c.change
      from unnest(lexemes, languages, changes) as c(lexeme, language, change)
      order by c.lexeme, c.language
    on conflict (lexeme, language) do update set chunks = k.chunks + excluded.chunks;
  delete from public.kb_lexemes k
    using unnest(lexemes, languages, changes) as c(lexeme, language, change)
    where c.change < 0 and k.lexeme = c.lexeme and k.language = c.language and k.chunks <= 0;
end
$$;

comment on function internal.kb_add_to_lexemes(text[], text[], bigint[]) is
  'Adds to the counts of lexemes and removes those that fall to 0.';

revoke all on function internal.kb_add_to_lexemes(text[], text[], bigint[]) from public;

-- Only words of documents for everybody are counted: the counts weigh the words of each question, and would tell everybody
-- what restricted documents say. A word that is not counted is searched like any other. The weight of a word that stands
-- nowhere tells the number of chunks, so that is the number of chunks for everybody: the lexeme of one space. The empty lexeme counts all chunks that
-- somebody finds: it says how large the knowledge base is and which languages are in it.
create function internal.kb_counted_lexemes(searchable boolean, audience text[], fts tsvector) returns text[]
  language sql
  immutable
  return case
    when searchable then tsvector_to_array(fts) || array['', ' ']
    when audience is not null then array['']
    else '{}'
  end;

comment on function internal.kb_counted_lexemes(boolean, text[], tsvector) is 'The lexemes that a chunk counts for.';

revoke all on function internal.kb_counted_lexemes(boolean, text[], tsvector) from public;

-- Once per statement and not per chunk: the chunks of a document share most of their words. Chunks of pending documents
-- are not searchable and cost nothing here.
create function internal.kb_count_inserted_lexemes() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  lexemes text[];
  languages text[];
  changes bigint[];
begin
  select array_agg(s.lexeme), array_agg(s.language), array_agg(s.change)
    into lexemes, languages, changes
    from (
      select l.lexeme, c.language, count(*) as change
        from inserted c
        cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
        group by l.lexeme, c.language
    ) s;
  perform internal.kb_add_to_lexemes(lexemes, languages, changes);
  return null;
end
$$;

comment on function internal.kb_count_inserted_lexemes() is 'Trigger: counts the lexemes of new chunks.';

revoke all on function internal.kb_count_inserted_lexemes() from public;

create trigger kb_chunks_count_inserted_lexemes
  after insert on public.kb_chunks
  referencing new table as inserted
  for each statement execute function internal.kb_count_inserted_lexemes();

create function internal.kb_count_deleted_lexemes() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  lexemes text[];
  languages text[];
  changes bigint[];
begin
  select array_agg(s.lexeme), array_agg(s.language), array_agg(s.change)
    into lexemes, languages, changes
    from (
      select l.lexeme, c.language, -count(*) as change
        from deleted c
        cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
        group by l.lexeme, c.language
    ) s;
  perform internal.kb_add_to_lexemes(lexemes, languages, changes);
  return null;
end
$$;

comment on function internal.kb_count_deleted_lexemes() is 'Trigger: takes the lexemes of deleted chunks off the counts.';

revoke all on function internal.kb_count_deleted_lexemes() from public;

create trigger kb_chunks_count_deleted_lexemes
  after delete on public.kb_chunks
  referencing old table as deleted
  for each statement execute function internal.kb_count_deleted_lexemes();

create function internal.kb_count_updated_lexemes() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  lexemes text[];
  languages text[];
  changes bigint[];
begin
  select array_agg(s.lexeme), array_agg(s.language), array_agg(s.change)
    into lexemes, languages, changes
    from (
      select l.lexeme, c.language, sum(c.change)::bigint as change
        from (
          select a.language, a.searchable, a.audience, a.fts, 1 as change from after_update a
          union all
          select b.language, b.searchable, b.audience, b.fts, -1 as change from before_update b
        ) c
        cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
        group by l.lexeme, c.language
        having sum(c.change) <> 0
    ) s;
  perform internal.kb_add_to_lexemes(lexemes, languages, changes);
  return null;
end
$$;

comment on function internal.kb_count_updated_lexemes() is
  'Trigger: counts what an update of chunks changed, be it their text, their language or who finds them.';

revoke all on function internal.kb_count_updated_lexemes() from public;

create trigger kb_chunks_count_updated_lexemes
  after update on public.kb_chunks
  referencing old table as before_update new table as after_update
  for each statement execute function internal.kb_count_updated_lexemes();

create function internal.kb_forget_lexemes() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  -- Hosted projects refuse a "delete" of the API without a condition.
  delete from public.kb_lexemes where true;
  return null;
end
$$;

comment on function internal.kb_forget_lexemes() is 'Trigger: no chunks, no lexemes.';

revoke all on function internal.kb_forget_lexemes() from public;

create trigger kb_chunks_forget_lexemes
  after truncate on public.kb_chunks
  for each statement execute function internal.kb_forget_lexemes();

create function public.kb_recount_lexemes() returns void
  language plpgsql
  -- Only the owner writes there.
  security definer
  set search_path = ''
  -- PostgREST takes the limit from here.
  set statement_timeout = '10min'
as $$
begin
  -- From here on nobody changes what is counted.
  perform internal.kb_lock();
  -- Hosted projects refuse a "delete" of the API without a condition.
  delete from public.kb_lexemes where true;
  insert into public.kb_lexemes (lexeme, language, chunks)
    select l.lexeme, c.language, count(*)
      from public.kb_chunks c
      cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
      group by l.lexeme, c.language;
end
$$;

comment on function public.kb_recount_lexemes() is
  'Counts all words anew. Only needed after triggers were switched off, as when a backup is restored: kb_health tells by '
  'lexeme_mismatch.';

revoke all on function public.kb_recount_lexemes() from public, anon, authenticated;
grant execute on function public.kb_recount_lexemes() to service_role;

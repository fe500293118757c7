-- Search by words: each document names its language, each chunk stores its lexemes, and a table counts how many chunks contain
-- each lexeme, so that rare words weigh more than common ones.

-- Language of a document --------------------------------------------------

create function internal.kb_text_search_config(language text) returns text
  language plpgsql stable set search_path = ''
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
  -- The available languages depend on the version of Postgres.
  perform from pg_catalog.pg_ts_config c
    where c.cfgname = name and c.cfgnamespace = 'pg_catalog'::regnamespace;
  return case when found then name else 'simple' end;
end
$$;

comment on function internal.kb_text_search_config is
  'Name of the text search configuration for a language; simple for an unknown one.';

-- The triggers of kb_chunks and kb_documents run it as the role that writes.
grant execute on function internal.kb_text_search_config to service_role;

-- Words of a chunk --------------------------------------------------------

-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_fold_accents(language text, words text) returns text
  language sql immutable
  return case
    when octet_length(words) = char_length(words) then words
    -- Stemmers that handle accents expect the composed character.
    when language not in ('english', 'simple') then normalize(words, NFC)
    else normalize(regexp_replace(normalize(words, NFD), '([A-Za-z])[\u0300-\u036f]+', '\1', 'g'), NFC)
  end;

comment on function internal.kb_fold_accents is
  'Removes accents from Latin letters in English texts, whose readers type "Celeron" for '
  '"Céloron". Other languages are only normalized to NFC.';

-- kb_chunk_fts runs it as the role that writes.
grant execute on function internal.kb_fold_accents to service_role;

create function internal.kb_chunk_text(content text, meta jsonb, parts jsonb) returns text
  language sql immutable set search_path = ''
  return coalesce(meta ->> 'section', '') || E'\n'
    || coalesce((
      -- The path ignores entries that are not parts.
      select string_agg((p.text #>> '{}') || E'\n', '' order by p.ordinality)
        from jsonb_path_query(parts, '$[*] ? (@.is_above == true).text') with ordinality as p(text, ordinality)
    ), '')
    || content;

comment on function internal.kb_chunk_text is
  'The text that is searched for a chunk and that its vector is made from: a line with the section '
  '(empty if there is none), a line for the text of each part with is_above, and the content.';

-- The trigger of kb_chunks runs it as the role that writes.
grant execute on function internal.kb_chunk_text to service_role;

create function internal.kb_chunk_fts(language text, chunk_text text) returns tsvector
  language plpgsql stable set search_path = ''
as $$
declare
  -- Up to this many bytes, no text exceeds the 1 MB limit of a tsvector. Such texts skip the exception block, which costs a
  -- subtransaction.
  max_safe_bytes constant integer := 200000;
  document text := internal.kb_fold_accents(language, chunk_text);
begin
  if octet_length(document) <= max_safe_bytes then
    return to_tsvector(language::regconfig, document);
  end if;
  -- Of a longer text, only the beginning that fits is searched.
  loop
    begin
      return to_tsvector(language::regconfig, document);
    exception when program_limit_exceeded then
      document := left(document, length(document) / 2);
    end;
  end loop;
end
$$;

comment on function internal.kb_chunk_fts is
  'Lexemes of a chunk, from its language and kb_chunk_text. Never fails on a long text.';

-- The trigger of kb_chunks runs it as the role that writes.
grant execute on function internal.kb_chunk_fts to service_role;

-- Counts of lexemes -------------------------------------------------------

create table public.kb_lexemes (
  lexeme text not null,
  language text not null,
  chunks bigint not null,
  primary key (lexeme, language)
)
-- Counts change often and are not indexed, so free space on the page allows HOT updates.
with (fillfactor = 80);

comment on table public.kb_lexemes is
  'Number of chunks that everybody can find, by lexeme and language. Set by triggers on kb_chunks. Lexemes that no text contains '
  'count the chunks themselves: a space counts those that everybody can find, a space and an entry of an audience those for this '
  'entry, the empty lexeme counts all.';
comment on column public.kb_lexemes.lexeme is
  'Word as reduced by the text search configuration; empty or beginning with a space for the counts of chunks.';
comment on column public.kb_lexemes.language is 'Text search configuration, as in kb_chunks.language.';
comment on column public.kb_lexemes.chunks is 'Number of chunks that contain the lexeme.';

-- Users have no access; match_chunks reads the table through a helper. Only the triggers write, with the rights of the owner: not
-- even the service role can.
revoke all on public.kb_lexemes from public, anon, authenticated, service_role;
grant select on public.kb_lexemes to service_role;
alter table public.kb_lexemes enable row level security;

create function internal.kb_adjust_lexeme_counts(lexemes text[], languages text[], deltas bigint[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  if lexemes is null then
    return;
  end if;
  -- Inserting chunks into a ready document does not take the lock before this point.
  perform internal.kb_lock();
  insert into public.kb_lexemes as k (lexeme, language, chunks)
    select c.lexeme, c.language, c.delta
      from unnest(lexemes, languages, deltas) as c(lexeme, language, delta)
      order by c.lexeme, c.language
    on conflict (lexeme, language) do update set chunks = k.chunks + excluded.chunks;
  delete from public.kb_lexemes k
    using unnest(lexemes, languages, deltas) as c(lexeme, language, delta)
    where c.delta < 0 and k.lexeme = c.lexeme and k.language = c.language and k.chunks <= 0;
end
$$;

comment on function internal.kb_adjust_lexeme_counts is
  'Adds changes to the counts of lexemes and deletes counts that reach 0.';

create function internal.kb_audience_lexemes(audience text[]) returns text[]
  language sql immutable set search_path = ''
as $$
  select array(select distinct ' ' || a.entry from unnest(audience) as a(entry))
$$;

comment on function internal.kb_audience_lexemes is
  'The lexemes that count the chunks for these audiences.';

-- Only words of documents without an audience are counted. The counts weigh the words of a question of any user in the default
-- audience, so counting restricted documents would reveal their words to them. Words without a count are still searched. The weight
-- of an unknown word reveals the number of chunks, so it is based on the counted ones: the lexeme of one space. The empty lexeme counts
-- all chunks that any user can find; it gives the size of the knowledge base. A question is read only in languages of chunks that its
-- user can find, so restricted chunks are counted for each entry of their audience.
create function internal.kb_counted_lexemes(searchable boolean, audience text[], fts tsvector) returns text[]
  language sql immutable
  return case
    when searchable then tsvector_to_array(fts) || array['', ' ']
    when audience is not null then internal.kb_audience_lexemes(audience) || array['']
    else '{}'
  end;

comment on function internal.kb_counted_lexemes is 'The lexemes that a chunk counts for.';

-- Runs once per statement instead of once per chunk, because the chunks of a document share most of their words. Chunks of pending
-- documents are not searchable and cost nothing here.
create function internal.kb_count_lexemes() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  sign constant bigint := case tg_op when 'DELETE' then -1 else 1 end;
  lexemes text[];
  languages text[];
  deltas bigint[];
begin
  select array_agg(s.lexeme), array_agg(s.language), array_agg(s.delta)
    into lexemes, languages, deltas
    from (
      select l.lexeme, c.language, sign * count(*) as delta
        from changed c
        cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
        group by l.lexeme, c.language
    ) s;
  perform internal.kb_adjust_lexeme_counts(lexemes, languages, deltas);
  return null;
end
$$;

comment on function internal.kb_count_lexemes is
  'Trigger: adds the lexemes of new chunks to the counts, and subtracts those of deleted chunks.';

create trigger kb_chunks_count_inserted_lexemes
  after insert on public.kb_chunks
  referencing new table as changed
  for each statement execute function internal.kb_count_lexemes();

create trigger kb_chunks_count_deleted_lexemes
  after delete on public.kb_chunks
  referencing old table as changed
  for each statement execute function internal.kb_count_lexemes();

create function internal.kb_count_updated_lexemes() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  lexemes text[];
  languages text[];
  deltas bigint[];
begin
  select array_agg(s.lexeme), array_agg(s.language), array_agg(s.delta)
    into lexemes, languages, deltas
    from (
      select l.lexeme, c.language, sum(c.delta)::bigint as delta
        from (
          select a.language, a.searchable, a.audience, a.fts, 1 as delta from after_update a
          union all
          select b.language, b.searchable, b.audience, b.fts, -1 as delta from before_update b
        ) c
        cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
        group by l.lexeme, c.language
        having sum(c.delta) <> 0
    ) s;
  perform internal.kb_adjust_lexeme_counts(lexemes, languages, deltas);
  return null;
end
$$;

comment on function internal.kb_count_updated_lexemes is
  'Trigger: adjusts the counts when an update changes the text, the language or the visibility of '
  'chunks.';

create trigger kb_chunks_count_updated_lexemes
  after update on public.kb_chunks
  referencing old table as before_update new table as after_update
  for each statement execute function internal.kb_count_updated_lexemes();

create function internal.kb_clear_lexeme_counts() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- Hosted projects reject DELETE statements without a WHERE clause.
  delete from public.kb_lexemes where true;
  return null;
end
$$;

comment on function internal.kb_clear_lexeme_counts is
  'Trigger: deletes all counts when kb_chunks is truncated.';

create trigger kb_chunks_clear_lexeme_counts
  after truncate on public.kb_chunks
  for each statement execute function internal.kb_clear_lexeme_counts();

create function public.kb_recount_lexemes() returns void
  language plpgsql
  -- Only the owner may write to kb_lexemes.
  security definer set search_path = ''
  -- PostgREST applies this limit to the request.
  set statement_timeout = '10min'
as $$
begin
  -- Chunks cannot change from here on.
  perform internal.kb_lock();
  -- Hosted projects reject DELETE statements without a WHERE clause.
  delete from public.kb_lexemes where true;
  insert into public.kb_lexemes (lexeme, language, chunks)
    select l.lexeme, c.language, count(*)
      from public.kb_chunks c
      cross join unnest(internal.kb_counted_lexemes(c.searchable, c.audience, c.fts)) as l(lexeme)
      group by l.lexeme, c.language;
end
$$;

comment on function public.kb_recount_lexemes is
  'Recounts all lexemes. Only needed after a time without triggers, such as the restore of a '
  'backup. kb_health reports the need as lexeme_mismatch.';

revoke all on function public.kb_recount_lexemes from public, anon, authenticated;
grant execute on function public.kb_recount_lexemes to service_role;

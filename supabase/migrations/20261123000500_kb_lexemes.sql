-- Words are counted of documents for everybody only: the counts weigh the words of each question, and would tell
-- everybody what restricted documents say. A word that nobody counted is searched like any other. The empty lexeme
-- counts all chunks that somebody finds: it says how large the knowledge base is and which languages are in it.

comment on table public.kb_lexemes is
  'Number of chunks by lexeme and language, kept by triggers on kb_chunks: of those that everybody finds. The empty '
  'lexeme, which no text has, counts the chunks themselves, those for an audience included.';
comment on column public.kb_lexemes.lexeme is
  'Word as the text search configuration reduces it; empty for the chunks themselves.';
comment on column public.kb_lexemes.chunks is 'Number of chunks that have it.';

create function internal.kb_counted_lexemes(searchable boolean, audience text[], fts tsvector) returns text[]
  language sql
  immutable
  return case
    when searchable then array_append(tsvector_to_array(fts), '')
    when audience is not null then array['']
    else '{}'
  end;

comment on function internal.kb_counted_lexemes(boolean, text[], tsvector) is 'The lexemes that a chunk counts for.';
revoke all on function internal.kb_counted_lexemes(boolean, text[], tsvector) from public;

create or replace function public.kb_count_inserted_lexemes() returns trigger
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

create or replace function public.kb_count_deleted_lexemes() returns trigger
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

create or replace function public.kb_count_updated_lexemes() returns trigger
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

comment on function public.kb_count_inserted_lexemes() is 'Trigger: counts the lexemes of new chunks.';
comment on function public.kb_count_updated_lexemes() is
  'Trigger: counts what an update of chunks changed, be it their text, their language or who finds them.';

-- Anew --------------------------------------------------------------------

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

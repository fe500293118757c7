-- In how many searchable chunks each lexeme stands: what makes a rare word weigh more than a common one.

create table public.kb_lexemes (
  lexeme text not null,
  language text not null,
  chunks bigint not null,
  primary key (lexeme, language)
)
-- Counts change often and are in no index, so with room on its page a new version of a row stays there.
with (fillfactor = 80);

comment on table public.kb_lexemes is
  'Number of searchable chunks by lexeme and language, kept by triggers on kb_chunks. '
  'The empty lexeme, which no text has, counts the chunks themselves.';
comment on column public.kb_lexemes.language is 'Text search configuration, as in kb_chunks.language.';

-- Adding up ---------------------------------------------------------------

create function internal.kb_add_to_lexemes(lexemes text[], languages text[], changes bigint[]) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  if lexemes is null then
    return;
  end if;
  -- One transaction at a time changes the counts, until it ends. Two of them that publish documents with words in
  -- common would otherwise lock the same rows in different orders (each statement in the order of the lexemes, but a
  -- transaction has several) and deadlock.
  perform pg_advisory_xact_lock(hashtextextended('kb_lexemes', 0));
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

-- Once per statement and not per chunk: the chunks of a document share most of their words. Chunks of pending documents
-- are not searchable and cost nothing here.
create function public.kb_count_inserted_lexemes() returns trigger
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
        cross join unnest(array_append(tsvector_to_array(c.fts), '')) as l(lexeme)
        where c.searchable
        group by l.lexeme, c.language
    ) s;
  perform internal.kb_add_to_lexemes(lexemes, languages, changes);
  return null;
end
$$;

create function public.kb_count_deleted_lexemes() returns trigger
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
        cross join unnest(array_append(tsvector_to_array(c.fts), '')) as l(lexeme)
        where c.searchable
        group by l.lexeme, c.language
    ) s;
  perform internal.kb_add_to_lexemes(lexemes, languages, changes);
  return null;
end
$$;

create function public.kb_count_updated_lexemes() returns trigger
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
          select a.language, a.fts, 1 as change from after_update a where a.searchable
          union all
          select b.language, b.fts, -1 as change from before_update b where b.searchable
        ) c
        cross join unnest(array_append(tsvector_to_array(c.fts), '')) as l(lexeme)
        group by l.lexeme, c.language
        having sum(c.change) <> 0
    ) s;
  perform internal.kb_add_to_lexemes(lexemes, languages, changes);
  return null;
end
$$;

create function public.kb_forget_lexemes() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  delete from public.kb_lexemes;
  return null;
end
$$;

comment on function public.kb_count_inserted_lexemes() is 'Trigger: counts the lexemes of new searchable chunks.';
comment on function public.kb_count_deleted_lexemes() is 'Trigger: takes the lexemes of deleted chunks off the counts.';
comment on function public.kb_count_updated_lexemes() is
  'Trigger: counts what an update of chunks changed, be it their text, their language or whether they are searchable.';
comment on function public.kb_forget_lexemes() is 'Trigger: no chunks, no lexemes.';

create trigger kb_chunks_count_inserted_lexemes
  after insert on public.kb_chunks
  referencing new table as inserted
  for each statement execute function public.kb_count_inserted_lexemes();

create trigger kb_chunks_count_deleted_lexemes
  after delete on public.kb_chunks
  referencing old table as deleted
  for each statement execute function public.kb_count_deleted_lexemes();

create trigger kb_chunks_count_updated_lexemes
  after update on public.kb_chunks
  referencing old table as before_update new table as after_update
  for each statement execute function public.kb_count_updated_lexemes();

create trigger kb_chunks_forget_lexemes
  after truncate on public.kb_chunks
  for each statement execute function public.kb_forget_lexemes();

-- A knowledge base from before this migration.
insert into public.kb_lexemes (lexeme, language, chunks)
  select l.lexeme, c.language, count(*)
    from public.kb_chunks c
    cross join unnest(array_append(tsvector_to_array(c.fts), '')) as l(lexeme)
    where c.searchable
    group by l.lexeme, c.language;

-- Privileges --------------------------------------------------------------

-- Users get nothing: match_chunks asks through a helper. Not even the service role writes, only the triggers do, with
-- the rights of the owner.
revoke all on public.kb_lexemes from public, anon, authenticated, service_role;
grant select on public.kb_lexemes to service_role;
alter table public.kb_lexemes enable row level security;

revoke all on function public.kb_count_inserted_lexemes() from public, anon, authenticated;
revoke all on function public.kb_count_deleted_lexemes() from public, anon, authenticated;
revoke all on function public.kb_count_updated_lexemes() from public, anon, authenticated;
revoke all on function public.kb_forget_lexemes() from public, anon, authenticated;
revoke all on function internal.kb_add_to_lexemes(text[], text[], bigint[]) from public;

-- One order for all locks, so that no two writers wait for each other: first the lock of this file, then documents,
-- then chunks, then embeddings and sentences. Whoever changes or deletes documents, chunks or embeddings takes the lock
-- before the first row; whoever only adds chunks to a document that nobody sees yet goes without it and shares the
-- document.
--
-- Nothing is lost by it: what is published, hidden or edited changes kb_lexemes, which one transaction at a time does
-- anyway, under the same lock.

create function internal.kb_lock() returns void
  language sql
  set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('kb_lexemes', 0))
$$;

comment on function internal.kb_lock() is
  'Waits until no other transaction changes documents or chunks, and keeps others waiting until this one ends.';

create function internal.kb_lock_before() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  perform internal.kb_lock();
  return null;
end
$$;

comment on function internal.kb_lock_before() is 'Trigger: takes the lock before the statement has any row.';

revoke all on function internal.kb_lock() from public;
revoke all on function internal.kb_lock_before() from public;
grant execute on function internal.kb_lock() to service_role;

create trigger kb_documents_lock
  before update or delete on public.kb_documents
  for each statement execute function internal.kb_lock_before();

create trigger kb_chunks_lock
  before update or delete on public.kb_chunks
  for each statement execute function internal.kb_lock_before();

create trigger kb_embeddings_lock
  before update or delete on public.kb_embeddings
  for each statement execute function internal.kb_lock_before();

-- As it was, with the lock under its name.
create or replace function internal.kb_add_to_lexemes(lexemes text[], languages text[], changes bigint[]) returns void
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

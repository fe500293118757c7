-- What keeps a folder and its documents in step, and what an administrator who adds rows by hand need not fill in.

alter table public.kb_documents
  add column collection text generated always as (split_part(source, '/', 1)) stored,
  add column source_version text,
  add column failure text;

comment on column public.kb_documents.collection is
  'First part of source: what kb sync keeps equal to one folder, bucket, site or list. Worked out from source.';
comment on column public.kb_documents.source_version is
  'What the source says identifies its content, such as an ETag, so that kb sync need not read an unchanged one.';
comment on column public.kb_documents.failure is 'Why status is failed, in one sentence. Empty (NULL) otherwise.';

create index kb_documents_collection_idx on public.kb_documents (collection, id);

-- Defaults for rows added in the dashboard --------------------------------

create function internal.kb_default_name() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if new.name is null or new.name !~ '\S' then
    -- The last part, without the slashes that an address may end in. What is all slashes is its own name.
    new.name := coalesce(substring(new.source from '([^/]*[^/\s][^/]*)/*\s*$'), new.source);
  end if;
  return new;
end
$$;

comment on function internal.kb_default_name() is
  'Trigger: a document without a name is called by the last part of its source.';
revoke all on function internal.kb_default_name() from public;

create trigger kb_documents_default_name
  before insert or update of name on public.kb_documents
  for each row execute function internal.kb_default_name();

create function internal.kb_default_ordinal() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  select coalesce(max(c.ordinal) + 1, 0) into new.ordinal
    from public.kb_chunks c
    where c.document_id = new.document_id;
  return new;
end
$$;

comment on function internal.kb_default_ordinal() is
  'Trigger: a chunk without a place comes after the last one of its document.';
revoke all on function internal.kb_default_ordinal() from public;

create trigger kb_chunks_default_ordinal
  before insert on public.kb_chunks
  for each row when (new.ordinal is null)
  execute function internal.kb_default_ordinal();

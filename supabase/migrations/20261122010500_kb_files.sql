-- The original files of documents, in the private storage bucket "kb": a user reads a file as long as they see its
-- document. Only the service role, which policies do not bind, writes.

alter table public.kb_documents
  -- Two documents with one file would show a hidden document's file through a visible one. Deferred, because
  -- kb_publish_document hands the file from one row to another.
  add constraint kb_documents_storage_path_unique unique (storage_path) deferrable initially deferred,
  -- It becomes part of an address, where other paths mean something else or cannot be reached.
  add constraint kb_documents_storage_path_is_plain
    check (storage_path !~ '(^|/)\.{0,2}(/|$)' and octet_length(storage_path) <= 1024);

comment on column public.kb_documents.storage_path is
  'Path of the original file in the storage bucket "kb", if it was stored, without the name of the bucket. No two '
  'documents share a file.';

-- A plain Postgres has no storage.
do $$
begin
  if to_regclass('storage.objects') is null then
    return;
  end if;

  insert into storage.buckets (id, name, public) values ('kb', 'kb', false) on conflict do nothing;

  -- Row level security of kb_documents decides which documents there are. The path must be the same to the letter.
  create policy kb_files_read_visible on storage.objects
    for select to authenticated
    using (
      bucket_id = 'kb'
      and exists (select from public.kb_documents d where d.storage_path = objects.name)
    );
end
$$;

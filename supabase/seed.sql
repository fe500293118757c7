-- Applied once to a new local database (`supabase db reset`, or the first start of local/supabase). No users, no
-- documents: `kb` fills the knowledge base.

-- Private bucket for the original files of documents.
insert into storage.buckets (id, name, public)
values ('kb', 'kb', false)
on conflict (id) do nothing;

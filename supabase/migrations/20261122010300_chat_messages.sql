-- Message ids come from clients. Within a session they tell a repetition from a new message; across sessions, and so
-- across users, they mean nothing.
alter table public.chat_messages
  drop constraint chat_messages_pkey,
  add constraint chat_messages_pkey primary key (session_id, id);

comment on column public.chat_messages.id is 'Unique within its session only.';

-- Far above what the Worker writes (a question of 4,000 characters, an answer of three sentences): they stop who writes
-- past it. Not valid: messages from before are never updated, so one that is too long harms nobody and must not stop
-- this migration.
alter table public.chat_messages
  add constraint chat_messages_content_length check (char_length(content) <= 100000) not valid,
  add constraint chat_messages_citations_size check (octet_length(citations::text) <= 1048576) not valid;

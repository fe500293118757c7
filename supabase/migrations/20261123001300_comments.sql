-- A word on every column that had none: the dashboard shows them.

comment on column public.kb_documents.id is
  'Id of the document. Stored citations name it; it stays when the document is replaced.';
comment on column public.kb_documents.created_at is 'When the document was first added.';
comment on column public.kb_documents.updated_at is 'When the row last changed. Set by a trigger.';
comment on column public.kb_documents.name is
  'File name, shown when the document has no title. Left empty, it is the last part of source.';
comment on column public.kb_documents.source is
  'Key of the document within the knowledge base: its collection and its path there, such as handbook/travel.md. At most '
  'one document per source is ready.';

comment on column public.kb_chunks.id is 'Id of the chunk.';
comment on column public.kb_chunks.document_id is 'The document it is a passage of. It goes when the document goes.';
comment on column public.kb_chunks.content is
  'The text. Edit it and the chunk is out of every search until kb sync has made its vectors anew.';
comment on column public.kb_chunks.ordinal is
  'Position in the document, counted from 0. Left empty, the chunk comes last.';

comment on column public.kb_embeddings.chunk_id is 'The chunk.';
comment on column public.kb_embeddings.embedding is 'Vector of meta.section and content, of unit length.';

comment on column public.kb_sentences.chunk_id is 'The chunk.';

comment on column public.chat_sessions.id is 'Id of the session.';
comment on column public.chat_sessions.user_id is 'Whose session it is. It goes when the user goes.';
comment on column public.chat_sessions.created_at is 'When it began.';

comment on column public.chat_messages.session_id is 'The session it belongs to. It goes when the session goes.';
comment on column public.chat_messages.role is 'user: a question. assistant: an answer or a refusal.';
comment on column public.chat_messages.content is 'The text.';

comment on column public.chat_refusals.user_id is 'Who asked.';
comment on column public.chat_refusals.session_id is 'Where it was asked; empty (NULL) when that session is gone.';
comment on column public.chat_refusals.question is 'The question, as it was asked.';
comment on column public.chat_refusals.reason is
  'no_match: no passage is about it. weak_evidence: none answers it. empty_kb: there was nothing to search.';

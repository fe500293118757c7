-- Who reads a history pays for its citations, document by document. So they are as many as an answer can have, and what
-- fifty passages take up at most.
alter table public.chat_messages
  drop constraint chat_messages_citations_size,
  add constraint chat_messages_citations_size check (octet_length(citations::text) <= 262144) not valid,
  -- The fifty-first entry. The length of what is no array would be an error, and there is a constraint for that.
  add constraint chat_messages_citations_count check (citations -> 50 is null) not valid;

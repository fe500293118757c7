-- Assistants: each has its own documents, texts and thresholds, and its own audience. A page names the assistant that it shows; the
-- assistant `default` answers if it names none. The search, the history and the access to files ask the functions of this file.

create function internal.is_short_text_list(texts text[], max_count integer, max_length integer) returns boolean
  language sql immutable set search_path = ''
as $$
  select cardinality(texts) <= max_count
    and coalesce(array_ndims(texts), 1) = 1
    and coalesce(bool_and(t is not null and t ~ '\S' and char_length(t) <= max_length), true)
  from unnest(texts) as t
$$;

comment on function internal.is_short_text_list is
  'Whether a list has at most max_count texts, each of at most max_length characters and none '
  'blank.';

grant execute on function internal.is_short_text_list to service_role;

create function internal.are_collection_names(names text[]) returns boolean
  language sql immutable set search_path = ''
as $$
  select internal.is_short_text_list(names, 100, 200) and coalesce(bool_and(n !~ '[/\r\n]'), true) from unnest(names) as n
$$;

comment on function internal.are_collection_names is
  'Whether a list has at most 100 names that kb_documents.collection can have: at most 200 '
  'characters, without / and line breaks.';

grant execute on function internal.are_collection_names to service_role;

create function internal.are_origins(origins text[]) returns boolean
  language sql immutable set search_path = ''
as $$
  select internal.is_short_text_list(origins, 50, 300)
    and coalesce(bool_and(o ~ '^[a-z][a-z0-9+.-]*://(\*\.)?[a-z0-9._:\[\]-]+$'), true)
  from unnest(origins) as o
$$;

comment on function internal.are_origins is
  'Whether a list has at most 50 origins, such as https://example.com, or patterns for all '
  'subdomains, such as https://*.example.com. In lower case, as browsers send them.';

grant execute on function internal.are_origins to service_role;

create table public.assistants (
  name text primary key
    constraint assistants_name_is_1_to_63_lower_case_letters_digits_or_hyphens
      check (name ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  enabled boolean not null default true,
  title text
    constraint assistants_title_is_1_to_100_characters check (title ~ '\S' and char_length(title) <= 100),
  collections text[]
    constraint assistants_collections_is_null_for_all_and_never_empty check (collections <> '{}')
    constraint assistants_collections_are_names_of_collections check (internal.are_collection_names(collections)),
  audience text[]
    constraint assistants_audience_is_null_for_everybody_and_never_empty check (audience <> '{}')
    constraint assistants_audience_entries_are_claim_colon_value check (internal.kb_is_valid_audience(audience))
    constraint assistants_audience_claims_are_not_user_editable check (internal.kb_has_only_trusted_claims(audience)),
  allowed_origins text[]
    constraint assistants_allowed_origins_is_null_for_any_and_never_empty check (allowed_origins <> '{}')
    constraint assistants_allowed_origins_are_origins check (internal.are_origins(allowed_origins)),
  evidence_threshold double precision
    constraint assistants_evidence_threshold_is_0_to_1 check (evidence_threshold between 0 and 1),
  evidence_confidence double precision
    constraint assistants_evidence_confidence_is_0_to_1 check (evidence_confidence between 0 and 1),
  match_count integer
    constraint assistants_match_count_is_1_to_50 check (match_count between 1 and 50),
  link_mode text not null default 'none'
    constraint assistants_link_mode_is_none_authenticated_or_public
      check (link_mode in ('none', 'authenticated', 'public')),
  citations boolean not null default true,
  answer_mode text not null default 'extractive'
    constraint assistants_answer_mode_is_extractive_endpoint_or_on_device
      check (answer_mode in ('extractive', 'endpoint', 'on_device')),
  refusal_message text
    constraint assistants_refusal_message_is_1_to_1000_characters
      check (refusal_message ~ '\S' and char_length(refusal_message) <= 1000),
  refusal_suggestions text[]
    constraint assistants_refusal_suggestions_are_at_most_5_of_200_characters
      check (internal.is_short_text_list(refusal_suggestions, 5, 200)),
  support_url text
    constraint assistants_support_url_is_https_or_mailto_and_at_most_500_characters
      check (support_url ~* '^(https://|mailto:)[^[:space:]]+$' and char_length(support_url) <= 500),
  greeting text
    constraint assistants_greeting_is_1_to_500_characters
      check (greeting ~ '\S' and char_length(greeting) <= 500),
  suggested_questions text[] not null default '{}'
    constraint assistants_suggested_questions_are_at_most_6_of_200_characters
      check (internal.is_short_text_list(suggested_questions, 6, 200)),
  updated_at timestamptz not null default now()
);

comment on table public.assistants is
  'The assistants: one row for each. The assistant "default" answers where a page names none. Add rows for others, and edit them '
  'here; changes take effect within a minute. Empty (NULL) means the default.';
comment on column public.assistants.name is
  'The name in the page, as in <evidence-chat assistant="shop">: 1 to 63 lower-case letters, digits and hyphens.';
comment on column public.assistants.enabled is
  'Set to false to turn the assistant off. Its name is then unknown to everybody. An assistant with conversations cannot be '
  'deleted.';
comment on column public.assistants.title is
  'Heading of the chat: 1 to 100 characters. NULL: the text of the widget.';
comment on column public.assistants.collections is
  'The collections that it searches, as a list: ["handbook", "faq"]. NULL: all of them, also those added later.';
comment on column public.assistants.audience is
  'Who may use it. Empty (NULL): every signed-in user. A list: only users with one of these claims in their token, as in '
  'kb_documents.audience. This does not hide the documents: another assistant may search them, so restrict those too.';
comment on column public.assistants.allowed_origins is
  'The sites that may show it, as a list: ["https://shop.example.com", "https://*.example.org"]. NULL: all that '
  'CHAT_ALLOWED_ORIGINS allows. That setting must allow these sites too.';
comment on column public.assistants.evidence_threshold is
  'How similar the best passage must be to the question before it is answered: 0 (anything) to 1 (the same words). '
  'NULL: 0.35. Higher refuses more.';
comment on column public.assistants.evidence_confidence is
  'How sure the chat must be that the passages answer the question: 0 (off) to 1. NULL: the measured default. Higher '
  'refuses more.';
comment on column public.assistants.match_count is
  'How many passages are read for one answer: 1 to 50. NULL: 5.';
comment on column public.assistants.link_mode is
  'Whether citations link to the original file. none: no links, and only you can open files. authenticated: signed-in users can '
  'open the files of documents that they see. public: a link that works for 7 days for everybody who has it. If several enabled '
  'assistants search a document, the strictest of their modes applies to its file.';
comment on column public.assistants.citations is
  'Whether answers show where each sentence comes from. false: no numbers and no sources.';
comment on column public.assistants.answer_mode is
  'Who writes answers. extractive: the documents, in quotes. endpoint: the language model that the server is configured with '
  '(CHAT_LLM_URL), which gets the question and the passages. on_device: the documents, and on demand a model in the visitor''s '
  'browser. Each sentence of a model is checked against the passages before it is shown.';
comment on column public.assistants.refusal_message is
  'What the chat says when it has no answer: 1 to 1000 characters. NULL: the built-in text.';
comment on column public.assistants.refusal_suggestions is
  'What the chat offers instead, as a list of contact, rephrase and questions: ["contact", "What does it cost?"]. At most 5, of '
  '200 characters each; [] offers nothing. NULL: ["contact", "rephrase"].';
comment on column public.assistants.support_url is
  'Where visitors contact you: an address that begins with https:// or mailto:, at most 500 characters. {question} in the address of '
  'a page stands for the question; a mail gets it as its text. NULL: the attribute support-url of the page.';
comment on column public.assistants.greeting is
  'First line of an empty chat: 1 to 500 characters. NULL: the text of the widget.';
comment on column public.assistants.suggested_questions is
  'Questions to click on in an empty chat, as a list: ["How do I return an order?"]. At most 6, of 200 characters '
  'each.';
comment on column public.assistants.updated_at is 'Set by a trigger.';

-- Only the administrator reads the table, so that nobody can list the names. Everybody else gets one assistant from chat_config.
revoke all on public.assistants from public, anon, authenticated;
grant all on public.assistants to service_role;
alter table public.assistants enable row level security;

create trigger assistants_set_updated_at
  before update on public.assistants
  for each row execute function internal.set_updated_at();

insert into public.assistants (name) values ('default');

-- For other functions -----------------------------------------------------

create function internal.chat_assistant(assistant text, audiences text[]) returns public.assistants
  language plpgsql stable
  -- Users may not read assistants.
  security definer set search_path = ''
as $$
declare
  found_assistant public.assistants;
begin
  select * into found_assistant
    from public.assistants a
    where a.name = chat_assistant.assistant
      and (audiences is null or (a.enabled and (a.audience is null or a.audience && audiences)));
  if not found then
    -- The same for all of these, so that nobody learns the name of an assistant that is not for them.
    raise exception 'There is no assistant of this name that you may use.'
      -- PostgREST turns this code into status 404.
      using errcode = 'PT404', hint = 'Check the name, and sign in as a user of the assistant.';
  end if;
  return found_assistant;
end
$$;

comment on function internal.chat_assistant is
  'The assistant of this name. Fails with PT404 if there is none, it is disabled, or it is not for '
  'these audiences. With null, for the administrator, only if there is none.';

grant execute on function internal.chat_assistant to authenticated, evidence_chat, service_role;

create function internal.chat_caller_assistants() returns text[]
  language plpgsql stable security definer set search_path = ''
as $$
declare
  audiences constant text[] := internal.kb_caller_audiences();
begin
  return array(select a.name from public.assistants a where a.audience is null or a.audience && audiences);
end
$$;

comment on function internal.chat_caller_assistants is
  'Names of the assistants, enabled or not, that are for the caller.';

grant execute on function
  internal.chat_caller_assistants
  to authenticated, evidence_chat, service_role;

create function internal.chat_link_mode(collection text) returns text
  language plpgsql stable security definer set search_path = ''
as $$
declare
  audiences constant text[] := internal.kb_caller_audiences();
begin
  return coalesce((
    select case
        when not bool_or(a.audience is null or a.audience && audiences) then 'none'
        when bool_or(a.link_mode = 'none') then 'none'
        when bool_or(a.link_mode = 'authenticated') then 'authenticated'
        else 'public'
      end
      from public.assistants a
      where a.enabled and (a.collections is null or chat_link_mode.collection = any (a.collections))
      having count(*) > 0
  ), 'none');
end
$$;

comment on function internal.chat_link_mode is
  'How the caller may open the files of a collection: by the strictest link_mode of the enabled '
  'assistants that search it. none if the caller may use none of them.';

grant execute on function internal.chat_link_mode to evidence_chat;

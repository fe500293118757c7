-- Who may see a document: everybody who is signed in, or those whose token has one of the claims in its audience.

create function internal.kb_are_audience_entries(entries text[]) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select coalesce(array_ndims(entries), 1) = 1
    and cardinality(entries) <= 100
    and coalesce(bool_and(e is not null and char_length(e) <= 300 and e ~ '^\S+:\S(.*\S)?$'), true)
  from unnest(entries) as e
$$;

comment on function internal.kb_are_audience_entries(text[]) is
  'Whether each entry is claim:value, without spaces around the two: at most 100, of at most 300 characters each.';

-- Claims that users write themselves, in Supabase Auth (email, phone, user_metadata) or as OpenID's profile with
-- another issuer: nobody is to let themselves in.
create function internal.kb_is_users_own_claim(claim text) returns boolean
  language sql
  immutable
  return claim in (
    'user_metadata', 'email', 'phone', 'phone_number', 'name', 'given_name', 'family_name', 'middle_name', 'nickname',
    'preferred_username', 'profile', 'picture', 'website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'address'
  );

comment on function internal.kb_is_users_own_claim(text) is
  'Whether a claim says what users say about themselves, and so nothing about what they may see.';

create function internal.kb_are_granted_claims(entries text[]) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select coalesce(bool_and(not internal.kb_is_users_own_claim(split_part(e, ':', 1))), true) from unnest(entries) as e
$$;

comment on function internal.kb_are_granted_claims(text[]) is
  'Whether no entry names a claim that users write themselves.';

create function internal.kb_audiences() returns text[]
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  claims jsonb;
begin
  -- PostgREST and Storage set it from the token they have verified.
  begin
    claims := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  exception when data_exception then
    -- Whoever sends no JSON is in no audience.
    null;
  end;
  if jsonb_typeof(claims) is distinct from 'object' then
    return '{}';
  end if;
  return array(
    select distinct claim.key || ':' || (item.value #>> '{}')
      from (
        select t.key, t.value from jsonb_each(claims) t where not internal.kb_is_users_own_claim(t.key)
        union all
        select a.key, a.value
          from jsonb_each(
            case when jsonb_typeof(claims -> 'app_metadata') = 'object' then claims -> 'app_metadata' else '{}' end
          ) a
          where not internal.kb_is_users_own_claim(a.key)
      ) claim
      cross join lateral jsonb_array_elements(
        case jsonb_typeof(claim.value) when 'array' then claim.value else jsonb_build_array(claim.value) end
      ) item
      where jsonb_typeof(item.value) in ('string', 'number', 'boolean')
  );
end
$$;

comment on function internal.kb_audiences() is
  'The audiences the caller belongs to: claim:value of each string, number and boolean in the token''s app_metadata and '
  'among its other claims, in lists as well; not of what users write themselves. Empty without a token.';

revoke all on function internal.kb_are_audience_entries(text[]) from public;
revoke all on function internal.kb_is_users_own_claim(text) from public;
revoke all on function internal.kb_are_granted_claims(text[]) from public;
revoke all on function internal.kb_audiences() from public;
grant execute on function internal.kb_are_audience_entries(text[]) to service_role;
grant execute on function internal.kb_are_granted_claims(text[]) to service_role;
grant execute on function internal.kb_is_users_own_claim(text) to authenticated, service_role;
grant execute on function internal.kb_audiences() to authenticated, service_role;

-- Documents ---------------------------------------------------------------

alter table public.kb_documents
  add column audience text[]
    constraint kb_documents_audience_is_null_for_everybody_and_never_empty check (audience <> '{}')
    constraint kb_documents_audience_entries_are_claim_colon_value check (internal.kb_are_audience_entries(audience))
    constraint kb_documents_audience_claims_are_not_written_by_users check (internal.kb_are_granted_claims(audience));

comment on column public.kb_documents.audience is
  'Who sees the document. Empty (NULL): every signed-in user. A list: only users with one of these claims in their token, '
  'each as claim:value, for example ["team:sales"] for app_metadata {"team": "sales"} or {"team": ["sales", "it"]}.';

-- Tells whether there are any.
create index kb_documents_restricted_idx on public.kb_documents (id) where audience is not null;

drop policy kb_documents_read_visible on public.kb_documents;
create policy kb_documents_read_visible on public.kb_documents
  for select to authenticated
  using (
    status = 'ready' and enabled
    -- Evaluated once per query instead of once per row.
    and (audience is null or audience && (select internal.kb_audiences()))
  );

comment on policy kb_documents_read_visible on public.kb_documents is
  'Users see ready and enabled documents for everybody or for an audience of theirs.';
-- kb_chunks_read_visible asks kb_documents, and so this policy; kb_files_read_visible does, too.

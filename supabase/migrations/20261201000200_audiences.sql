-- Who may see a document: users whose token has one of the claims in the document's audience, or in the default audience of the
-- project if the document has none. An audience is a list of claim:value. The tables that use these functions are in the following
-- files.

-- Entries of an audience --------------------------------------------------

create function internal.kb_is_valid_audience(entries text[]) returns boolean
  language sql immutable set search_path = ''
as $$
  select coalesce(array_ndims(entries), 1) = 1
    and cardinality(entries) <= 100
    and coalesce(bool_and(e is not null and char_length(e) <= 300 and e ~ '^\S+:\S(.*\S)?$'), true)
  from unnest(entries) as e
$$;

comment on function internal.kb_is_valid_audience is
  'Whether each entry is claim:value without spaces around either part. At most 100 entries of at '
  'most 300 characters.';

grant execute on function internal.kb_is_valid_audience to service_role;

-- Claims that users can set themselves: email, phone and user_metadata in Supabase Auth, and the OpenID profile with another
-- issuer. An audience of such claims would let users grant themselves access.
create function internal.kb_is_user_editable_claim(claim text) returns boolean
  language sql immutable
  return claim in (
    'user_metadata', 'email', 'phone', 'phone_number', 'name', 'given_name', 'family_name', 'middle_name', 'nickname',
    'preferred_username', 'profile', 'picture', 'website', 'gender', 'birthdate', 'zoneinfo', 'locale', 'address'
  );

comment on function internal.kb_is_user_editable_claim is
  'Whether users can set this claim themselves, so that it must not grant access.';

grant execute on function
  internal.kb_is_user_editable_claim
  to authenticated, evidence_chat, service_role;

create function internal.kb_has_only_trusted_claims(entries text[]) returns boolean
  language sql immutable set search_path = ''
as $$
  select coalesce(bool_and(not internal.kb_is_user_editable_claim(split_part(e, ':', 1))), true) from unnest(entries) as e
$$;

comment on function internal.kb_has_only_trusted_claims is
  'Whether no entry names a claim that users can set themselves.';

grant execute on function internal.kb_has_only_trusted_claims to service_role;

-- Audiences of the caller -------------------------------------------------

create function internal.kb_caller_claims() returns jsonb
  language plpgsql stable set search_path = ''
as $$
declare
  claims jsonb;
begin
  -- PostgREST and Storage set it from the verified token.
  claims := nullif(current_setting('request.jwt.claims', true), '')::jsonb;
  -- A request without a token and the legacy publishable key, which is a token too, have claims but no user. They must not count as
  -- a user who is not anonymous.
  return case when jsonb_typeof(claims) = 'object' and claims ->> 'sub' is not null then claims end;
exception when data_exception then
  -- Claims that are not valid JSON match no audience.
  return null;
end
$$;

comment on function internal.kb_caller_claims is
  'The claims of the caller''s token. Null without a token that names a user (sub).';

grant execute on function internal.kb_caller_claims to authenticated, evidence_chat, service_role;

-- `return` and no search_path setting, so that Postgres can inline calls.
create function internal.kb_is_anonymous(claims jsonb) returns boolean
  language sql immutable
  return claims is null or coalesce(claims -> 'is_anonymous', 'false') not in ('false', 'null');

comment on function internal.kb_is_anonymous is
  'Whether these claims are those of an anonymous user. Only Supabase Auth sets is_anonymous, and '
  'only a top-level claim counts; users of other issuers have accounts. Any value that does not '
  'say "not anonymous" counts as anonymous, and so do no claims.';

grant execute on function internal.kb_is_anonymous to authenticated, evidence_chat, service_role;

create function internal.kb_caller_audiences() returns text[]
  language plpgsql stable set search_path = ''
as $$
declare
  claims constant jsonb := internal.kb_caller_claims();
begin
  if claims is null then
    return '{}';
  end if;
  return array(
    select 'is_anonymous:' || internal.kb_is_anonymous(claims)::text
    union
    select claim.key || ':' || (item.value #>> '{}')
      from (
        select t.key, t.value from jsonb_each(claims) t where not internal.kb_is_user_editable_claim(t.key)
        union all
        select a.key, a.value
          from jsonb_each(
            case when jsonb_typeof(claims -> 'app_metadata') = 'object' then claims -> 'app_metadata' else '{}' end
          ) a
          where not internal.kb_is_user_editable_claim(a.key)
      ) claim
      cross join lateral jsonb_array_elements(
        case jsonb_typeof(claim.value) when 'array' then claim.value else jsonb_build_array(claim.value) end
      ) item
      where jsonb_typeof(item.value) in ('string', 'number', 'boolean') and claim.key <> 'is_anonymous'
  );
end
$$;

comment on function internal.kb_caller_audiences is
  'The audiences of the caller: claim:value for each string, number and boolean in the token''s '
  'app_metadata and its other claims, including those in lists, except claims that users can set '
  'themselves. Always one of is_anonymous:true and is_anonymous:false: the latter if the token has '
  'no claim is_anonymous. Empty without a token that names a user (sub).';

grant execute on function
  internal.kb_caller_audiences
  to authenticated, evidence_chat, service_role;

create function internal.kb_is_in_default_audience() returns boolean
  language plpgsql stable
  -- Users may not read chat_settings.
  security definer set search_path = ''
as $$
declare
  usual_audience constant text[] := '{is_anonymous:false}';
  default_audience constant text[] := coalesce((select s.default_audience from public.chat_settings s), usual_audience);
  claims jsonb;
begin
  -- Policies call it several times for a search, so the usual case does not collect all audiences of the caller.
  if default_audience = usual_audience then
    claims := internal.kb_caller_claims();
    return not internal.kb_is_anonymous(claims);
  end if;
  return default_audience && internal.kb_caller_audiences();
end
$$;

comment on function internal.kb_is_in_default_audience is
  'Whether the caller may see documents that have no audience: chat_settings.default_audience, or '
  'its default, has one of the audiences of the caller. False without a token.';

grant execute on function
  internal.kb_is_in_default_audience
  to authenticated, evidence_chat, service_role;

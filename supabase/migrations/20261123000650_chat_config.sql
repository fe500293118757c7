-- chat_config, which now also knows the fingerprint of vectors that not everybody finds. Privileges and comment stay.

create or replace function public.chat_config() returns jsonb
  language sql
  stable
  -- Asked before anybody has signed in.
  security definer
  set search_path = ''
as $$
  select jsonb_build_object(
    'model', (
      -- To count which fingerprint is the most common takes a look at every vector. The document that was changed last
      -- is as good: a knowledge base has one fingerprint, and while it is moved to another, that is the new one.
      select v.model
        from public.kb_documents d
        cross join lateral (
          select e.model
            from public.kb_chunks c
            join public.kb_embeddings e on e.chunk_id = c.id
            where c.document_id = d.id and (e.searchable or e.audience is not null)
            limit 1
        ) v
        where d.status = 'ready' and d.enabled
        order by d.updated_at desc
        limit 1
    ),
    'settings', jsonb_build_object(
      'evidence_threshold', s.evidence_threshold,
      'evidence_confidence', s.evidence_confidence,
      'match_count', s.match_count,
      'link_mode', coalesce(s.link_mode, 'none'),
      'citations', coalesce(s.citations, true),
      'refusal_message', s.refusal_message,
      'refusal_suggestions', s.refusal_suggestions,
      'greeting', s.greeting,
      'suggested_questions', coalesce(s.suggested_questions, '{}'),
      'log_questions', coalesce(s.log_questions, false)
    )
  )
  from (values (true)) as only_row (id)
  left join public.chat_settings s using (id)
$$;

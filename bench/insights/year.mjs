// A year of generated conversations, which pass the triggers that count.

const DOCUMENTS = 1_000;
const USERS = 20_000;
const MESSAGES_PER_GAP = 500;
const TURNS_PER_SESSION = 4;

// Of ten turns, two are refused, by three assistants. Of ten answers, one has feedback. Some documents and gaps are asked for much
// more often than others.
const CONVERSATIONS = `
  set search_path = public, extensions;
  select setseed(0.5);
  insert into assistants (name) values ('shop'), ('staff');
  insert into auth.users (id) select gen_random_uuid() from generate_series(1, ${USERS} - 1);
  create temporary table someone as select row_number() over () as number, id from auth.users;
  create index on someone (number);

  insert into kb_documents (source, name, status, meta)
    select format('handbook/%s.md', n), format('%s.md', n), 'ready',
        jsonb_build_object('title', format('Page %s of the handbook', n), 'url', format('https://shop.example/%s', n))
      from generate_series(1, ${DOCUMENTS}) as n;
  create temporary table some_document as select row_number() over () as number, id from kb_documents;
  create index on some_document (number);

  create temporary table conversation as
    select n as number, gen_random_uuid() as id, (array['default', 'shop', 'staff'])[1 + n % 3] as assistant,
        1 + floor(random() * ${USERS})::int as someone, now() - random() * interval '364 days' as started
      from generate_series(1, :sessions) as n;
  insert into chat_sessions (id, user_id, assistant, title, created_at, updated_at)
    select c.id, s.id, c.assistant, 'A question', c.started, c.started from conversation c join someone s on s.number = c.someone;

  create temporary table turn as
    select t.*, case when t.is_refused then null when t.said < 0.07 then 'up' when t.said < 0.1 then 'down' end as rating
      from (
        select c.id as session_id, c.number, c.assistant, c.someone, c.started + t * interval '1 minute' as asked,
            random() < 0.2 as is_refused, random() as said,
            1 + floor(${DOCUMENTS} * 0.8 * power(random(), 3))::int as first,
            1 + floor(${DOCUMENTS} * 0.8 * power(random(), 3))::int as second,
            floor(:gaps * power(random(), 2))::int as gap, (40 * exp(2.5 * random() * random()))::int as latency
          from conversation c cross join generate_series(1, ${TURNS_PER_SESSION}) as t
      ) t;
  analyze someone;
  analyze some_document;
  analyze turn;`;

const MESSAGES = `
  alter table chat_messages disable trigger chat_messages_prepare;
  alter table chat_messages disable trigger chat_messages_touch_session;
  insert into chat_messages (session_id, role, content, from_worker, created_at)
    select session_id, 'user', 'How long do I have to return an order?', true, asked from turn;
  insert into chat_messages
      (session_id, role, content, citations, sources, refusal, latency_ms, from_worker, created_at,
        feedback_rating, feedback_reason, feedback_comment, feedback_at)
    select t.session_id, 'assistant', repeat('You can return an order within 30 days. ', 4),
        case when t.is_refused then '[]' else jsonb_build_array(jsonb_build_object('index', 1, 'document_id', a.id)) end,
        case when t.is_refused then '{}' else array[a.id, b.id] end,
        case when t.is_refused then 'weak_evidence' end, t.latency, true, t.asked + interval '1 second',
        t.rating,
        case when t.rating = 'down'
          then (array['wrong', 'incomplete', 'off_topic', 'outdated', 'other'])[1 + floor(t.said * 1e6)::int % 6] end,
        case when t.rating is not null and floor(t.said * 1e6)::int % 5 = 0 then 'It does not say what holds for gift cards.' end,
        case when t.rating is not null then t.asked + interval '1 minute' end
      from turn t
      join some_document a on a.number = t.first
      join some_document b on b.number = t.second;
  alter table chat_messages enable trigger all;
  insert into internal.chat_daily (assistant, day, measure, count)
    select a.assistant, a.day, u.measure::internal.chat_measure, a.count * u.share
      from internal.chat_daily a
      cross join (
        values ('citations_hovered', 2), ('citations_opened', 0.5), ('citations_copied', 0.05)
      ) as u(measure, share)
      where a.measure = 'answers';`;

// The trigger would look for the group of each question in the vector index.
const REFUSALS = `
  create temporary table gap as
    select g as number, gen_random_uuid() as id, l2_normalize(array_agg(random() - 0.5)::vector(384)) as embedding
      from generate_series(0, :gaps - 1) as g cross join generate_series(1, 384)
      group by g;
  alter table chat_refusals disable trigger chat_refusals_prepare;
  drop index chat_refusals_embedding_hnsw;
  insert into chat_refusals
      (user_id, session_id, assistant, question, embedding, best_score, reason, group_id, asker, from_worker, created_at)
    select s.id, t.session_id, t.assistant, format('Question %s about subject %s', t.number % 7, t.gap), g.embedding,
        case when t.is_refused then 0.4 end, case when t.is_refused then 'weak_evidence' else 'disliked' end,
        md5(g.id || t.assistant)::uuid, sha256(convert_to(t.someone::text, 'UTF8')), true, t.asked
      from turn t
      join gap g on g.number = t.gap
      join someone s on s.number = t.someone
      where t.is_refused or t.rating = 'down';
  alter table chat_refusals enable trigger all;`;

const COUNTED = ["chat_messages", "chat_refusals", "kb_documents", "internal.chat_daily_documents"];
const MEASURED = ["internal.chat_daily", "internal.chat_daily_latency", "internal.chat_daily_documents"];

/**
 * Fills a database, and gives the seconds that it took.
 * @param {import("../../local/supabase/migrations.mjs").Database} session of a superuser, the only one who may switch triggers off
 * @param {number} messages questions and answers together
 */
export async function generateYear(session, messages) {
  const started = performance.now();
  const values = {
    ":sessions": Math.ceil(messages / (2 * TURNS_PER_SESSION)),
    ":gaps": Math.ceil(messages / MESSAGES_PER_GAP),
  };
  for (const script of [CONVERSATIONS, MESSAGES, REFUSALS]) {
    await session.exec(script.replace(/:(sessions|gaps)\b/g, (name) => String(values[name])));
  }
  await session.exec("vacuum analyze");
  return Math.round((performance.now() - started) / 100) / 10;
}

/**
 * How many rows there are, and how large the tables are in bytes, with their indexes.
 * @param {import("../../local/supabase/migrations.mjs").Database} session
 */
export async function describeYear(session) {
  const of = async (relations, expression) => {
    const entries = [];
    for (const name of relations) {
      const { rows } = await session.query(expression(name));
      entries.push([name.replace("internal.", ""), Number(rows[0].value)]);
    }
    return Object.fromEntries(entries);
  };
  return {
    rows: await of(COUNTED, (name) => `select count(*) as value from ${name}`),
    bytes: await of(
      [...MEASURED, ...COUNTED.slice(0, 2)],
      (name) => `select pg_total_relation_size('${name}') as value`,
    ),
  };
}

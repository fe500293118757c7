// Half a year of a shop's figures for pictures of the insights page, written where the triggers would count them.

const DAYS = 200;

/** Titles, from the most to the least cited. The last ones are never cited. */
const DOCUMENTS = [
  "Returns and refunds",
  "Delivery times and costs",
  "Gift cards",
  "Warranty and repairs",
  "Paying by invoice",
  "Changing or cancelling an order",
  "Your account and password",
  "Sizes and measurements",
  "Exchanging an item that does not fit, is damaged, or arrived later than the date that was promised at checkout",
  "Press releases of 2024",
  "Careers",
];
const CITED = DOCUMENTS.length - 2;

/** Questions without a good answer: users, those who disliked an answer, and the words. */
const GAPS = [
  {
    users: 23,
    disliked: 0,
    questions: ["Do you ship to Norway?", "Delivery to Oslo", "Can I order from Norway and pay in NOK?"],
  },
  { users: 14, disliked: 3, questions: ["Can I return a gift card that I have opened?", "Refund of a used gift card"] },
  { users: 9, disliked: 0, questions: ["كم يستغرق التوصيل إلى دبي؟", "هل توصلون إلى الإمارات؟"] },
  {
    users: 6,
    disliked: 0,
    questions: ["Is there a discount for students, teachers or people who work for a charity, and how do I prove it?"],
  },
];

const COMMENTS = [
  {
    rating: "down",
    reason: "incomplete",
    comment: "It does not say who pays for the parcel.",
    question: "How do I send an item back?",
  },
  {
    rating: "up",
    reason: null,
    comment: "Exactly what I was looking for, thank you!",
    question: "How long is the warranty?",
  },
  { rating: "down", reason: "outdated", comment: "لم يعد هذا السعر صحيحًا.", question: "كم تكلفة التوصيل السريع؟" },
];

const COUNTS = `
  insert into assistants (name, title) values ('staff', 'Staff');
  insert into internal.chat_daily (assistant, day, measure, count)
    select 'default', d.day, c.measure::internal.chat_measure, c.count
      from generate_series(0, ${DAYS}) as back
      cross join lateral (select (now() at time zone 'UTC')::date - back as day) d
      -- More in the course of the months, fewer on weekends.
      cross join lateral (
        select ((150 - back * 0.35 + 12 * sin(back * 1.7)) * case when extract(isodow from d.day) > 5 then 0.6 else 1 end)::int as asked
      ) q
      cross join lateral (select (asked * (0.86 - back * 0.0006 + 0.03 * sin(back * 0.9)))::int as answered) a
      cross join lateral (
        values ('questions', asked), ('answers', answered), ('refusals', asked - answered), ('cited_answers', (answered * 0.97)::int),
          ('hedged_answers', answered / 12), ('citations_hovered', answered / 2), ('citations_opened', answered / 5),
          ('citations_copied', answered / 30), ('liked', answered / 10), ('disliked', 4 + back % 3), ('disliked_wrong', back % 2),
          ('disliked_incomplete', 2), ('disliked_off_topic', 1), ('disliked_outdated', (back % 5) / 4)
      ) as c(measure, count);
  insert into internal.chat_daily_latency (assistant, day, bucket, turns)
    select 'default', (now() at time zone 'UTC')::date - back, bucket, 1 + (40 * exp(-power((bucket - 47 - sin(back * 0.8)) / 3.0, 2)))::int
      from generate_series(0, ${DAYS}) as back cross join generate_series(42, 60) as bucket;`;

const DOCUMENT = `
  with written as (
    insert into kb_documents (source, name, status, meta)
      values ('help/' || $1 || '.md', $1 || '.md', 'ready', jsonb_build_object('title', $2::text, 'url', 'https://shop.example/help/' || $1))
      returning id
  )
  insert into internal.chat_daily_documents (assistant, day, document_id, times_cited)
    select 'default', (now() at time zone 'UTC')::date - back, w.id, $3::int
      from written w cross join generate_series(0, ${DAYS}) as back
      where $3::int > 0 and back % (1 + 4 / $3::int) = 0`;

const GAP = `
  insert into chat_refusals (assistant, question, embedding, reason, group_id, asker, from_worker, created_at)
    values ('default', $1, $2, $3, $4, sha256(convert_to($5, 'UTF8')), true, now() - make_interval(hours => $6))`;

const COMMENT = `
  with session as (
    insert into chat_sessions (user_id, title) values ($1, 'A question') returning id
  )
  insert into chat_messages
      (session_id, role, content, citations, from_worker, created_at, feedback_rating, feedback_reason, feedback_comment, feedback_at)
    select s.id, said.role, said.content, '[]', true, now() - make_interval(hours => $6) + said.after, said.rating, said.reason,
        said.comment, case when said.rating is not null then now() - make_interval(hours => $6) end
      from session s
      cross join (
        values ('user', $2, interval '0', null, null, null), ('assistant', 'An answer.', interval '2 s', $3, $4, $5)
      ) as said(role, content, after, rating, reason, comment)`;

/**
 * Writes it all.
 * @param {Awaited<ReturnType<typeof import("../lib/insights-site.mjs").startInsightsSite>>} site
 */
export async function fillInsights({ database, administrator }) {
  await database.exec(COUNTS);
  for (const [place, title] of DOCUMENTS.entries()) {
    const slug = title.toLowerCase().replace(/\W+/g, "-").slice(0, 40);
    await database.query(DOCUMENT, [slug, title, Math.max(CITED - place, 0)]);
  }
  // The counts are written above, and the triggers set their own dates and groups.
  await database.exec("alter table chat_refusals disable trigger user; alter table chat_messages disable trigger user");
  for (const [axis, { users, disliked, questions }] of GAPS.entries()) {
    const embedding = JSON.stringify(Array.from({ length: 384 }, (_, index) => (index === axis ? 1 : 0)));
    const group = `00000000-0000-4000-8000-00000000000${axis}`;
    for (let user = 0; user < users; user++) {
      const reason = user < disliked ? "disliked" : "weak_evidence";
      const question = questions[user % questions.length];
      await database.query(GAP, [question, embedding, reason, group, String(user), user * 20 + axis * 7]);
    }
  }
  for (const [place, { rating, reason, comment, question }] of COMMENTS.entries()) {
    await database.query(COMMENT, [administrator.id, question, rating, reason, comment, 5 + place * 20]);
  }
  await database.exec("alter table chat_refusals enable trigger user; alter table chat_messages enable trigger user");
}

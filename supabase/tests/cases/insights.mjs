import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { clearKnowledgeBase, embeddingWithSimilarity, QUERY, writeDocument } from "../support/knowledge-base.mjs";
import { as, become, SERVICE, user } from "../support/roles.mjs";
import { newTurn, RECORD_TURN } from "../support/turn.mjs";

const SECRET = "the secret of the Worker in the insights tests";

/** What administrators may know about the use of the chat. */
export function insights({ database }) {
  const ids = {};
  /** @type {import("../support/roles.mjs").Caller} */
  let admin;

  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;
  const read = async (call, caller = admin) => {
    const { rows } = await as(database, caller, (transaction) => transaction.query(`select * from ${call}`));
    // Most functions return one JSON object a row.
    const [name] = call.split("(");
    return rows.map((row) => row[name] ?? row);
  };
  /** As the caller, with the header of the Worker, and not rolled back. */
  const asWorker = (caller, sql, parameters, secret = SECRET) =>
    database.transaction(async (transaction) => {
      await become(transaction, caller);
      await transaction.query("select set_config('request.headers', $1, true)", [
        JSON.stringify({ "x-evidence-chat-worker": secret }),
      ]);
      return (await transaction.query(sql, parameters)).rows;
    });
  const newUser = async (name) =>
    (await run("insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id", name))[0].id;

  /**
   * Records a turn as the Worker does.
   * @param {{ who?: string, cites?: string[], latency?: number, refusal?: string | null, hedged?: boolean, mode?: string,
   *   assistant?: string, secret?: string, shown?: boolean, ids?: [string, string, string] }} [turn]
   */
  const turn = ({
    who = ids.visitor,
    cites = [],
    latency = 100,
    refusal = null,
    hedged = false,
    mode = "extractive",
    assistant = "default",
    secret = SECRET,
    shown = true,
    ids: [session, question, answer] = [randomUUID(), randomUUID(), randomUUID()],
  } = {}) =>
    asWorker(
      user(who),
      RECORD_TURN,
      [
        newTurn({
          session_id: session,
          question_id: question,
          answer_id: answer,
          citations: shown ? cites.map((id, index) => ({ index, document_id: id })) : [],
          sources: cites,
          latency_ms: latency,
          refusal,
          hedged,
          mode,
          assistant,
        }),
      ],
      secret,
    );
  const refuse = (question, embedding, who, { assistant = "default", daysAgo = 0 } = {}) =>
    run(
      `with written as (
         insert into chat_refusals (user_id, assistant, question, embedding, best_score, reason, from_worker)
           values ($1, $2, $3, $4, 0.3, 'no_match', true) returning id
       ) select id from written`,
      who,
      assistant,
      question,
      embedding,
    ).then(([{ id }]) =>
      run("update chat_refusals set created_at = now() - make_interval(days => $2) where id = $1", id, daysAgo),
    );
  /**
   * What the user says about an answer, as through the Worker.
   * @param {string} who
   * @param {[string, string, string]} turn
   * @param {{ rating?: string | null, reason?: string | null, comment?: string | null }} [said]
   */
  const feedback = (who, [session, , answer], { rating = null, reason = null, comment = null } = {}) =>
    asWorker(user(who), "select chat_give_feedback($1, $2, $3, $4, $5) as given", [
      session,
      answer,
      rating,
      reason,
      comment,
    ]).then(([{ given }]) => assert.equal(given, true));
  const newIds = () => /** @type {[string, string, string]} */ ([randomUUID(), randomUUID(), randomUUID()]);
  /** Moves all daily counts into the past. */
  const moveBack = async (days) => {
    for (const table of ["chat_daily", "chat_daily_latency", "chat_daily_documents"])
      await run(`update internal.${table} set day = day - $1::integer`, days);
  };
  const settings = (values) =>
    run(
      `update chat_settings set ${Object.keys(values)
        .map((name, index) => `${name} = $${index + 1}`)
        .join(", ")}`,
      ...Object.values(values),
    );

  before(async () => {
    await clear();
    for (const name of ["visitor", "second", "admin"]) ids[name] = await newUser(`${name}@insights.example`);
    admin = user(ids.admin, { app_metadata: { evidence_chat: "administrator" } });
    await run("insert into assistants (name, collections) values ('shop', '{shop}')");
    ids.previousSecrets = await run("select hash, created_at from internal.worker_secrets");
    await run("select chat_set_worker_secret($1)", createHash("sha256").update(SECRET).digest("hex"));
  });
  const clear = async () => {
    await clearKnowledgeBase(database);
    await database.exec(`
      delete from chat_sessions;
      delete from chat_refusals;
      delete from internal.chat_daily;
      delete from internal.chat_daily_latency;
      delete from internal.chat_daily_documents;
      delete from internal.chat_alerts;
      delete from internal.usage`);
  };
  afterEach(async () => {
    await clear();
    await settings({
      administrators: ["evidence_chat:administrator"],
      gap_users: 2,
      alert_url: null,
      alert_answered_share: null,
      alert_cited_share: null,
    });
  });
  after(async () => {
    await database.exec(`
      delete from assistants where name = 'shop';
      delete from auth.users where email like '%@insights.example';
      delete from internal.worker_secrets`);
    for (const { hash, created_at: createdAt } of ids.previousSecrets)
      await run("insert into internal.worker_secrets (hash, created_at) values ($1, $2)", hash, createdAt);
  });

  test("without questions, every share is empty and every count is 0", async () => {
    const rows = await read("chat_insights(7)");
    assert.deepEqual(
      rows.map((row) => [row.period, Number(row.questions), row.answered_share, row.cited_share, row.latency_p50_ms]),
      [
        ["current", 0, null, null, null],
        ["previous", 0, null, null, null],
      ],
    );
    const days = await read("chat_insights_days(7)");
    assert.equal(days.length, 7);
    assert.ok(days.every((day) => Number(day.questions) === 0 && day.latency_p95_ms === null));
  });

  test("counts questions, answers, refusals, citations and modes of turns of the Worker, of each assistant", async () => {
    const { id } = await writeDocument(database, { contents: ["one"] });
    await turn({ cites: [id] });
    await turn({ cites: [id], hedged: true });
    await turn({ cites: [id], mode: "generated", shown: false });
    await turn({ refusal: "no_match" });
    await turn({ assistant: "shop", refusal: "weak_evidence" });
    await turn({ cites: [id], secret: "not the secret" });
    const all = (await read("chat_insights(7)"))[0];
    const counts = (row) => [row.questions, row.answers, row.refusals, row.cited_answers].map(Number);
    assert.deepEqual(counts(all), [5, 3, 2, 2]);
    assert.deepEqual([Number(all.hedged_answers), Number(all.generated_answers)], [1, 1]);
    assert.deepEqual([all.answered_share, all.cited_share], [0.6, 0.667]);
    assert.deepEqual(counts((await read("chat_insights(7, 'shop')"))[0]), [1, 0, 1, 0]);
    const days = await read("chat_insights_days(7, 'default')");
    assert.deepEqual(
      days.map((day) => Number(day.questions)),
      [0, 0, 0, 0, 0, 0, 4],
    );
    const [cited] = await read("chat_insights_documents(7)");
    assert.deepEqual([cited.document_id, Number(cited.times_cited), cited.state], [id, 3, "ready"]);
  });

  test("a repeated turn counts once", async () => {
    const repeated = /** @type {[string, string, string]} */ ([randomUUID(), randomUUID(), randomUUID()]);
    await turn({ ids: repeated });
    await turn({ ids: repeated });
    const [{ questions, answers }] = await read("chat_insights(7)");
    assert.deepEqual([questions, answers].map(Number), [1, 1]);
  });

  test("counts stay when the user, retention or the administrator deletes the conversations", async () => {
    const { id } = await writeDocument(database, { contents: ["one"] });
    for (const who of [ids.visitor, ids.second]) await turn({ who, cites: [id] });
    await asWorker(user(ids.visitor), "select chat_delete_user_data()", []);
    await database.exec("delete from chat_sessions");
    assert.deepEqual(await run("select 1 from chat_messages"), []);
    const [current] = await read("chat_insights(7)");
    assert.deepEqual([current.questions, current.cited_answers].map(Number), [2, 2]);
  });

  test("no daily count holds a user, a session or a text", async () => {
    const columns = await run(`
      select distinct format_type(a.atttypid, a.atttypmod) || ' ' || a.attname as name
        from pg_attribute a
        where a.attrelid in ('internal.chat_daily'::regclass, 'internal.chat_daily_latency'::regclass,
            'internal.chat_daily_documents'::regclass)
          and a.attnum > 0 and not a.attisdropped and format_type(a.atttypid, a.atttypmod) not in ('integer', 'smallint')
        order by 1`);
    assert.deepEqual(
      columns.map(({ name }) => name),
      ["date day", "internal.chat_measure measure", "text assistant", "uuid document_id"],
    );
  });

  test("the windows begin and end at the right day", async () => {
    await turn();
    for (const [back, current, previous] of [
      [6, 1, 0],
      [1, 0, 1],
      [6, 0, 1],
      [1, 0, 0],
    ]) {
      await moveBack(back);
      const rows = await read("chat_insights(7)");
      assert.deepEqual(
        rows.map((row) => Number(row.questions)),
        [current, previous],
        `after ${back} more days`,
      );
    }
    assert.equal(Number((await read("chat_insights(30)"))[0].questions), 1);
  });

  test("latency percentiles are within 4.5 % of the exact ones", async () => {
    const latencies = [0, 1, 12, 40, 80, 100, 120, 250, 900, 3_600_000];
    for (const latency of latencies) await turn({ latency });
    const [{ latency_p50_ms: p50, latency_p95_ms: p95 }] = await read("chat_insights(7)");
    assert.ok(Math.abs(p50 / 80 - 1) < 0.045, `p50 ${p50}`);
    assert.ok(Math.abs(p95 / 3_600_000 - 1) < 0.045, `p95 ${p95}`);
    const today = (await read("chat_insights_days(7)")).at(-1);
    assert.deepEqual([today.latency_p50_ms, today.latency_p95_ms], [p50, p95]);
  });

  test("gaps group similar questions of the window, with typical examples first", async () => {
    const near = embeddingWithSimilarity(0.9, 7);
    await refuse("Do you ship to Norway?", QUERY, ids.visitor);
    await refuse("Do you ship to Norway?", QUERY, ids.second);
    await refuse("Delivery to Norway, please", near, ids.second);
    await refuse("Only one person asked this", embeddingWithSimilarity(0, 3), ids.visitor);
    const [gap, ...others] = await read("chat_insights_gaps(7)");
    assert.deepEqual(others, []);
    assert.deepEqual(
      [Number(gap.questions), Number(gap.users), gap.assistant_name, gap.reasons, gap.examples],
      [3, 2, "default", ["no_match"], ["Do you ship to Norway?", "Delivery to Norway, please"]],
    );
    assert.deepEqual(await read("chat_insights_gaps(7, 'shop')"), []);
    assert.deepEqual(await read("chat_insights_gaps(7, null, 0)"), []);
  });

  test("a gap needs gap_users users within the window, so that no single person's question is shown", async () => {
    await refuse("Do you ship to Norway?", QUERY, ids.visitor, { daysAgo: 20 });
    await refuse("Do you ship to Norway?", QUERY, ids.second);
    assert.deepEqual(await read("chat_insights_gaps(7)"), []);
    assert.equal((await read("chat_insights_gaps(30)")).length, 1);
    await settings({ gap_users: 1 });
    assert.equal(Number((await read("chat_insights_gaps(7)"))[0].questions), 1);
  });

  const opinions = async (call = "chat_insights(7)") => {
    const [row] = await read(call);
    return [Number(row.liked), Number(row.disliked), row.liked_share];
  };

  test("feedback counts on the day of its answer, once, and follows the user's mind", async () => {
    const [first, second, third] = [newIds(), newIds(), newIds()];
    await turn({ ids: first });
    await turn({ ids: second, who: ids.second });
    await turn({ ids: third, assistant: "shop" });
    assert.deepEqual(await opinions(), [0, 0, null]);
    await feedback(ids.visitor, first, { rating: "up" });
    await feedback(ids.visitor, first, { rating: "up", comment: "Thank you" });
    await feedback(ids.second, second, { rating: "down" });
    await feedback(ids.visitor, third, { rating: "down", reason: "off_topic" });
    assert.deepEqual(await opinions(), [1, 2, 0.333]);
    assert.deepEqual(await opinions("chat_insights(7, 'shop')"), [0, 1, 0]);
    const names = ["wrong", "incomplete", "off_topic", "outdated", "other"];
    const reasons = async () => {
      const [row] = await read("chat_insights(7)");
      return Object.fromEntries(names.map((name) => [name, Number(row[`disliked_${name}`])]));
    };
    const none = { wrong: 0, incomplete: 0, off_topic: 0, outdated: 0, other: 0 };
    assert.deepEqual(await reasons(), { ...none, off_topic: 1 });
    await feedback(ids.visitor, third, { rating: "down" });
    for (const reason of names) {
      await feedback(ids.second, second, { rating: "down", reason });
      assert.deepEqual(await reasons(), { ...none, [reason]: 1 });
    }
    const today = (await read("chat_insights_days(7)")).at(-1);
    assert.deepEqual([Number(today.liked), Number(today.disliked), today.liked_share], [1, 2, 0.333]);

    // Three days later, the counts of the answer's day change.
    await run("update chat_messages set created_at = created_at - interval '3 days'");
    await moveBack(3);
    await feedback(ids.visitor, first);
    await feedback(ids.second, second, { rating: "up" });
    assert.deepEqual(await opinions(), [1, 1, 0.5]);
    assert.deepEqual(
      (await read("chat_insights_days(7)")).map((day) => Number(day.liked)),
      [0, 0, 0, 1, 0, 0, 0],
    );
    assert.deepEqual(await reasons(), none);
  });

  test("feedback stays counted when conversations and users go, and never falls below 0", async () => {
    const [first, second, third] = [newIds(), newIds(), newIds()];
    const leaving = await newUser("leaving@insights.example");
    await turn({ ids: first, who: leaving });
    await turn({ ids: second });
    await feedback(leaving, first, { rating: "down", reason: "wrong", comment: "No." });
    await feedback(ids.visitor, second, { rating: "up", comment: "Yes." });
    await run("delete from auth.users where id = $1", leaving);
    await asWorker(user(ids.visitor), "select chat_delete_user_data()", []);
    assert.deepEqual(await opinions(), [1, 1, 0.5]);
    assert.deepEqual(await read("chat_insights_comments(7)"), [], "the words go with the conversation");

    await turn({ ids: third });
    await feedback(ids.visitor, third, { rating: "up" });
    await run("update internal.chat_daily set count = 0 where measure = 'liked'");
    await feedback(ids.visitor, third);
    assert.deepEqual(await opinions(), [0, 1, 0]);
    await run("delete from internal.chat_daily");
    await feedback(ids.visitor, third, { rating: "up" });
    assert.deepEqual(await run("select 1 from internal.chat_daily"), [], "a purged day stays without a row");
  });

  test("only feedback on answers of the Worker counts, also if it comes with a restored message", async () => {
    const direct = newIds();
    await turn({ ids: direct, secret: "not the secret" });
    await feedback(ids.visitor, direct, { rating: "up", comment: "Me." });
    assert.deepEqual(await opinions(), [0, 0, null]);
    assert.deepEqual(await read("chat_insights_comments(7)"), []);
    for (const isFromWorker of [true, false])
      await run(
        `insert into chat_messages (session_id, role, content, from_worker, feedback_rating, feedback_reason, feedback_at)
           values ($1, 'assistant', 'Restored.', $2, 'down', 'outdated', now())`,
        direct[0],
        isFromWorker,
      );
    assert.deepEqual(await opinions(), [0, 1, 0]);
  });

  test("shows what users wrote, the newest first, with the question and without user, conversation and answer", async () => {
    const [first, second, silent] = [newIds(), newIds(), newIds()];
    await turn({ ids: first });
    await turn({ ids: second, assistant: "shop", who: ids.second });
    await turn({ ids: silent });
    await feedback(ids.visitor, first, { rating: "down", reason: "wrong", comment: "It takes a week." });
    await feedback(ids.second, second, { rating: "up", comment: "Thank you!" });
    await feedback(ids.visitor, silent, { rating: "down" });
    await run("update chat_messages set searched = 'And cards? Q?' where id = $1", first[2]);
    const rows = await read("chat_insights_comments(7)");
    assert.deepEqual(
      rows.map(({ feedback_at: _, total, ...row }) => ({ ...row, total: Number(total) })),
      [
        { assistant_name: "shop", rating: "up", reason: null, comment: "Thank you!", question: "Q?", total: 2 },
        {
          assistant_name: "default",
          rating: "down",
          reason: "wrong",
          comment: "It takes a week.",
          question: "And cards? Q?",
          total: 2,
        },
      ],
    );
    const comments = async (call) => (await read(call)).map((row) => row.comment);
    assert.deepEqual(await comments("chat_insights_comments(7, 'default')"), ["It takes a week."]);
    assert.deepEqual(await comments("chat_insights_comments(7, null, 1)"), ["Thank you!"]);
    for (const count of ["0", "-1"]) assert.deepEqual(await comments(`chat_insights_comments(7, null, ${count})`), []);
    await run("update chat_messages set feedback_at = feedback_at - interval '8 days' where feedback_rating = 'up'");
    assert.deepEqual(await comments("chat_insights_comments(7)"), ["It takes a week."]);
    assert.equal((await comments("chat_insights_comments(30)")).length, 2);
    await feedback(ids.visitor, first, { rating: "down", reason: "wrong" });
    assert.deepEqual(await comments("chat_insights_comments(7)"), [], "taken back");
    for (const caller of [user(ids.visitor), user(ids.visitor, { is_anonymous: true })])
      await assert.rejects(read("chat_insights_comments(7)", caller), { code: "42501" });
  });

  test("a disliked answer is among the gaps, and told apart from refusals", async () => {
    await refuse("Do you ship to Norway?", QUERY, ids.visitor);
    const answered = newIds();
    await turn({ ids: answered, who: ids.second });
    await asWorker(user(ids.second), "select chat_give_feedback($1, $2, 'down', null, null, $3)", [
      answered[0],
      answered[2],
      QUERY,
    ]);
    const [gap] = await read("chat_insights_gaps(7)");
    assert.deepEqual([Number(gap.questions), Number(gap.disliked), gap.reasons], [2, 1, ["disliked", "no_match"]]);
    await feedback(ids.second, answered, { rating: "up" });
    await settings({ gap_users: 1 });
    assert.equal(Number((await read("chat_insights_gaps(7)"))[0].disliked), 0);
  });

  test("lists the documents that answers are based on, and those that none is, with their state", async () => {
    const write = (source) => writeDocument(database, { source, contents: [source], meta: { title: source } });
    const [often, once, hidden, deleted, never, shop] = [
      await write("guide/often.md"),
      await write("guide/once.md"),
      await write("guide/hidden.md"),
      await write("guide/deleted.md"),
      await write("guide/never.md"),
      await write("shop/never.md"),
    ];
    await turn({ cites: [often.id, once.id] });
    await turn({ cites: [often.id, hidden.id] });
    await turn({ cites: [often.id, deleted.id] });
    await run("update kb_documents set enabled = false where id = $1", hidden.id);
    await run("delete from kb_documents where id = $1", deleted.id);
    const rows = await read("chat_insights_documents(7)");
    assert.deepEqual([rows[0].title, Number(rows[0].times_cited), Number(rows[0].total)], ["guide/often.md", 3, 4]);
    assert.deepEqual(Object.fromEntries(rows.map((row) => [row.document_id, row.state])), {
      [often.id]: "ready",
      [once.id]: "ready",
      [hidden.id]: "disabled",
      [deleted.id]: "deleted",
    });
    const uncited = async (call) => (await read(call)).map((row) => row.document_id).sort();
    assert.deepEqual(await uncited("chat_insights_uncited(7)"), [never.id, shop.id].sort());
    assert.deepEqual(await uncited("chat_insights_uncited(7, 'shop')"), [shop.id]);
    const [health] = await read("chat_insights_health(7)");
    assert.deepEqual(health, {
      citations: 6,
      citations_of_ready: 4,
      citations_of_disabled: 1,
      citations_of_deleted: 1,
      documents: 4,
      cited_documents: 2,
      stale_passages: 0,
      outdated: 0,
      troubles: [],
    });
    await run(
      "update kb_documents set failure = 'is broken', failed_at = now() where id in ($1, $2)",
      often.id,
      shop.id,
    );
    const [sick] = await read("chat_insights_health(7, 'shop')");
    const { since, ...trouble } = sick.troubles[0];
    assert.deepEqual(
      [Number(sick.outdated), sick.troubles.length, trouble, typeof since],
      [1, 1, { source: "shop/never.md", reason: "is broken" }, "string"],
    );
    await run("update kb_documents set failure = null");

    await moveBack(7);
    assert.deepEqual(await uncited("chat_insights_uncited(7)"), [often.id, once.id, never.id, shop.id].sort());
    const [first, second] = await read("chat_insights_uncited(7)");
    assert.deepEqual([first.last_cited, second.last_cited], [null, null], "never cited comes first");
    assert.equal(Number(first.total), 4);
  });

  test("rejects windows and assistants that do not exist with a typed error", async () => {
    for (const days of ["0", "91", "-1", "null"])
      await assert.rejects(read(`chat_insights(${days})`), { code: "22023", message: "days must be 1 to 90" });
    for (const call of ["chat_insights_days(7, 'nobody')", "chat_insights_gaps(7, 'nobody')"])
      await assert.rejects(read(call), { code: "PT404" });
    for (const count of ["-5", "null", "1000000"]) assert.ok(await read(`chat_insights_gaps(7, null, ${count})`));
  });

  test("only the claims in chat_settings.administrators open the insights", async () => {
    const refused = { code: "42501", message: "Only administrators may do this." };
    const callers = [
      user(ids.visitor),
      user(ids.visitor, { is_anonymous: true }),
      user(ids.visitor, { user_metadata: { evidence_chat: "administrator" } }),
      user(ids.visitor, { app_metadata: { evidence_chat: ["member"] } }),
      { role: "authenticated", claims: { role: "authenticated", app_metadata: { evidence_chat: "administrator" } } },
    ];
    for (const caller of callers) await assert.rejects(read("chat_insights_assistants()", caller), refused);
    await settings({ administrators: [`sub:${ids.visitor}`] });
    assert.deepEqual(
      (await read("chat_insights_assistants()", user(ids.visitor))).map(({ name }) => name),
      ["default", "shop"],
    );
    await assert.rejects(read("chat_insights_assistants()"), refused);
    await settings({ administrators: [] });
    await assert.rejects(read("chat_insights_assistants()", user(ids.visitor)), refused);
    assert.ok(await read("chat_insights_assistants()", SERVICE));
  });

  test("administrators cannot be a claim that every user has, or one that users write", async () => {
    for (const entry of ["is_anonymous:false", "role:authenticated", "aud:authenticated", "aal:aal1", "provider:email"])
      await assert.rejects(settings({ administrators: [entry] }), /administrators_claims_are_not_those_of_every_user/);
    await assert.rejects(settings({ administrators: ["email:me@example.com"] }), /are_not_user_editable/);
    await assert.rejects(settings({ administrators: ["administrator"] }), /entries_are_claim_colon_value/);
  });

  test("counts the use of citations for the Worker only, within limits", async () => {
    const use = (parameters, secret) =>
      asWorker(user(ids.visitor), "select chat_count_citation_use($1, $2, $3, $4)", parameters, secret);
    await use([3, 2, 1, "default"]);
    await use([1, 0, 0, "shop"]);
    await use([5, 5, 5, "default"], "not the secret");
    const counted = async (call) => {
      const [row] = await read(call);
      return [row.citations_hovered, row.citations_opened, row.citations_copied].map(Number);
    };
    assert.deepEqual(await counted("chat_insights(7)"), [4, 2, 1]);
    assert.deepEqual(await counted("chat_insights(7, 'shop')"), [1, 0, 0]);
    for (const bad of [
      [-1, 0, 0],
      [1001, 0, 0],
      [0, 0, null],
    ])
      await assert.rejects(use([...bad, "default"]), { code: "22023" });
    await assert.rejects(use([1, 0, 0, "nobody"]), { code: "PT404" });
    await use([1000, 0, 0, "default"]);
    await assert.rejects(use([1000, 0, 0, "default"]), { code: "PT429" });
    assert.deepEqual(await counted("chat_insights(7)"), [1004, 2, 1]);
  });

  test("renaming an assistant keeps its counts, deleting one deletes them", async () => {
    await turn({ assistant: "shop", cites: [randomUUID()] });
    await run("update assistants set name = 'store' where name = 'shop'");
    assert.equal(Number((await read("chat_insights(7, 'store')"))[0].questions), 1);
    await database.exec("delete from chat_sessions");
    await run("delete from assistants where name = 'store'");
    assert.equal(Number((await read("chat_insights(7)"))[0].questions), 0);
    await run("insert into assistants (name, collections) values ('shop', '{shop}')");
  });

  test("chat_retain deletes counts that are older than 400 days", async () => {
    await turn({ cites: [randomUUID()] });
    await moveBack(400);
    await run("select chat_retain()");
    assert.equal((await run("select distinct day from internal.chat_daily")).length, 1);
    await moveBack(1);
    await run("select chat_retain()");
    for (const table of ["chat_daily", "chat_daily_latency", "chat_daily_documents"])
      assert.deepEqual(await run(`select 1 from internal.${table}`), [], table);
  });

  const health = async () => (await run("select kb_health() as health"))[0].health;
  const checkAlerts = async () => (await run("select chat_check_alerts() as result"))[0].result;
  /** Sets the counts of today. */
  const countTurns = (turns, answers, cited) =>
    run(
      `insert into internal.chat_daily (assistant, day, measure, count)
         select 'default', (now() at time zone 'UTC')::date, m.name::internal.chat_measure, m.count
           from (
             values ('questions', $1::integer), ('answers', $2::integer), ('refusals', $1::integer - $2::integer),
               ('cited_answers', $3::integer)
           ) as m(name, count)
         on conflict (assistant, day, measure) do update set count = excluded.count`,
      turns,
      answers,
      cited,
    );

  test("without pg_net or without a webhook an alert is reported and nothing breaks", async () => {
    await countTurns(100, 40, 40);
    await settings({ alert_answered_share: 0.5, alert_url: "https://hooks.example/a" });
    const [answered, cited] = await checkAlerts();
    assert.deepEqual(answered, {
      measure: "answered_share",
      share: 0.4,
      line: 0.5,
      of: 100,
      below: true,
      sent: false,
    });
    assert.deepEqual([cited.line, cited.below], [null, false]);
    assert.deepEqual(await run("select 1 from internal.chat_alerts where sent_at is not null or is_below"), []);
    assert.deepEqual((await health()).alerts.sent, []);
    assert.ok((await run("select chat_retain() as done"))[0].done);
  });

  test("sends an alert once until the share has recovered, and none for few questions", async () => {
    await database.exec(`
      create schema net;
      create table net.sent (url text, body jsonb);
      create function net.http_post(url text, body jsonb default '{}', params jsonb default '{}',
          headers jsonb default '{}', timeout_milliseconds integer default 5000) returns bigint
        language sql as 'insert into net.sent values (url, body); select 1::bigint'`);
    try {
      const sent = async () => (await run("select url, body from net.sent")).map(({ url, body }) => [url, body]);
      await settings({ alert_answered_share: 0.5, alert_cited_share: 0.9, alert_url: "https://hooks.example/a" });
      await countTurns(19, 1, 0);
      await checkAlerts();
      await countTurns(20, 10, 10);
      await checkAlerts();
      assert.deepEqual(await sent(), [], "a share of fewer than 20, or on the line");

      await countTurns(1000, 499, 499);
      assert.deepEqual(
        (await checkAlerts()).map((check) => check.sent),
        [true, false],
      );
      await checkAlerts();
      const [[url, body], ...others] = await sent();
      assert.deepEqual(others, []);
      assert.equal(url, "https://hooks.example/a");
      assert.deepEqual(body, {
        text: "Evidence Chat: 49.9 % of 1000 questions were answered in the last 7 days. The alert is set to 50.0 %.",
        measure: "answered_share",
        share: 0.499,
        line: 0.5,
        of: 1000,
        days: 7,
      });

      await countTurns(1000, 500, 500);
      await checkAlerts();
      await countTurns(1000, 400, 300);
      assert.deepEqual(
        (await checkAlerts()).map((check) => check.sent),
        [true, true],
      );
      await database.exec("drop function net.http_post; delete from internal.chat_alerts");
      await database.exec(`
        create function net.http_post(url text, body jsonb) returns bigint
          language plpgsql as $$ begin raise exception 'no network'; end $$`);
      assert.deepEqual(
        (await checkAlerts()).map((check) => check.sent),
        [false, false],
        "pg_net fails",
      );
    } finally {
      await database.exec("drop schema net cascade");
    }
  });

  test("an alert that the webhook did not accept is sent again, and kb doctor learns of both", async () => {
    await database.exec(`
      create schema net;
      create table net.sent (id bigint generated always as identity);
      create table net._http_response (id bigint, status_code integer, timed_out boolean, error_msg text);
      create function net.http_post(url text, body jsonb) returns bigint
        language sql as 'insert into net.sent default values returning id'`);
    try {
      await settings({ alert_answered_share: 0.5, alert_url: "https://hooks.example/a" });
      assert.deepEqual((await health()).alerts, {
        url_set: true,
        measures: ["answered_share"],
        pg_net: true,
        checked_at: null,
        sent: [],
      });
      await countTurns(100, 40, 40);
      const check = async () => {
        await checkAlerts();
        const [{ count }] = await run("select count(*) from net.sent");
        const { checked_at: checkedAt, sent } = (await health()).alerts;
        const [{ measure, is_below, sent_at: sentAt, is_delivered, status }, ...others] = sent;
        assert.deepEqual([measure, is_below, others], ["answered_share", true, []]);
        for (const time of [checkedAt, sentAt]) assert.ok(Date.now() - Date.parse(time) < 60_000, time);
        return [Number(count), is_delivered, status];
      };
      assert.deepEqual(await check(), [1, null, null], "no answer yet");
      assert.deepEqual(await check(), [1, null, null], "it waits for the answer");
      await run("insert into net._http_response values (1, 404, false, null)");
      assert.equal((await health()).alerts.sent[0].status, 404, "known before the next check");
      assert.deepEqual(await check(), [2, null, null], "sent again");
      await run("insert into net._http_response values (2, null, true, 'Timeout was reached')");
      assert.equal((await health()).alerts.sent[0].is_delivered, false);
      assert.deepEqual(await check(), [3, null, null]);
      await run("insert into net._http_response values (3, 204, false, null)");
      assert.deepEqual(await check(), [3, true, 204]);
      await run("delete from net._http_response");
      assert.deepEqual(await check(), [3, true, 204], "pg_net forgets, the table does not");
      await countTurns(100, 60, 60);
      await checkAlerts();
      assert.equal((await health()).alerts.sent[0].is_below, false);
      await database.exec("drop table net._http_response; create table net._http_response (other text)");
      await countTurns(100, 40, 40);
      assert.deepEqual(await check(), [4, null, null], "an unknown version of pg_net");
    } finally {
      await database.exec("drop schema net cascade");
    }
  });

  test("kb doctor learns of turns that were recorded and not counted", async () => {
    assert.deepEqual((await health()).counts, { counted_day: null, recorded_day: null });
    await turn();
    const { counted_day: counted, recorded_day: recorded } = (await health()).counts;
    assert.match(counted, /^\d{4}-\d{2}-\d{2}$/);
    assert.equal(counted, recorded);
    await run("delete from internal.chat_daily");
    assert.deepEqual((await health()).counts, { counted_day: null, recorded_day: recorded });
  });

  test("the webhook must be an https address and the lines shares", async () => {
    for (const url of [
      "http://hooks.example",
      "https://",
      "hooks.example",
      "https://a b",
      `https://${"a".repeat(2000)}`,
    ])
      await assert.rejects(settings({ alert_url: url }), /alert_url_is_https/);
    for (const share of [-0.1, 1.1]) {
      await assert.rejects(settings({ alert_answered_share: share }), /alert_answered_share_is_0_to_1/);
      await assert.rejects(settings({ alert_cited_share: share }), /alert_cited_share_is_0_to_1/);
    }
  });
}

import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { WORKER, WORKER_SECRET } from "../support/client.mjs";
import { become, user } from "../support/roles.mjs";
import { clearKnowledgeBase, lexemeCounts, QUERY, renewVectors, writeDocument } from "../support/knowledge-base.mjs";
import { newTurn, RECORD_TURN } from "../support/turn.mjs";

const SESSIONS = 6;
const STORM_MS = 6000;

/** Several sessions on the same rows. A deadlock ends in an error, so "no error" includes "no deadlock". */
export function concurrency({ project }) {
  let database;
  let sessions;

  before(async () => {
    database = await project.connect();
    sessions = await Promise.all(Array.from({ length: SESSIONS }, () => project.connect()));
    await database.query("select chat_set_worker_secret($1)", [
      createHash("sha256").update(WORKER_SECRET).digest("hex"),
    ]);
  });
  after(() => Promise.all([database, ...sessions].map((session) => session.close())));
  afterEach(() => clearKnowledgeBase(database));

  const source = "guide/a.md";
  const pending = (hash) =>
    writeDocument(database, { source, status: "pending", hash, contents: [`${hash} one`, `${hash} two`] });
  const publish = (session, id) => session.query("select kb_publish_document($1) ->> 'id' as id", [id]);

  /** The values that triggers maintain must equal freshly computed ones. */
  const assertConsistent = async () => {
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted);
    const { rows } = await database.query("select kb_health() as health");
    const { visibility_mismatches: mismatch, lexeme_mismatch: lexemes } = rows[0].health;
    assert.deepEqual([mismatch, lexemes], [0, false]);
  };
  /** Returns a function that resolves when a query of this session waits for another session. */
  const untilWaiting = async (session) => {
    const { rows } = await sessions[session].query("select pg_backend_pid() as pid");
    return async () => {
      for (let attempt = 0; attempt < 200; attempt++) {
        const { rows: waiting } = await database.query("select cardinality(pg_blocking_pids($1)) > 0 as yes", [
          rows[0].pid,
        ]);
        if (waiting[0].yes) return;
        await delay(10);
      }
      assert.fail("the second session did not wait for the first");
    };
  };
  /** Runs `first` in an open transaction, starts `second`, which must wait, and commits. */
  const oneAfterTheOther = async (first, second) => {
    const waits = await untilWaiting(1);
    await sessions[0].exec("begin");
    await first(sessions[0]);
    const late = second(sessions[1]);
    await Promise.race([waits(), late]);
    await sessions[0].exec("commit");
    return late;
  };
  /** Runs a statement as a user whose request comes from the Worker. */
  const asWorker = (session, id, sql, parameters) =>
    session.transaction(async (transaction) => {
      await become(transaction, user(id));
      await transaction.query("select set_config('request.headers', $1, true)", [JSON.stringify(WORKER)]);
      return (await transaction.query(sql, parameters)).rows;
    });
  const newUser = async (name) => {
    const { rows } = await database.query("insert into auth.users (email) values ($1) returning id", [
      `${name}@concurrency.example`,
    ]);
    return rows[0].id;
  };

  test("a fourth simultaneous search of one user is rejected at once, those of others are not", async () => {
    await writeDocument(database);
    const id = await newUser("searcher");
    const search = (session, who) =>
      session.transaction(async (transaction) => {
        await become(transaction, user(who));
        return (await transaction.query("select * from match_chunks($1)", [QUERY])).rows.length;
      });
    await sessions[0].exec("begin");
    await become(sessions[0], user(id));
    await sessions[0].query("select * from match_chunks($1)", [QUERY]);
    const waits = [await untilWaiting(1), await untilWaiting(2)];
    const waiting = [search(sessions[1], id), search(sessions[2], id)];
    for (const wait of waits) await wait();
    await assert.rejects(search(sessions[3], id), { code: "PT429", message: /at a time/ });
    assert.equal(await search(sessions[4], randomUUID()), 1);
    await sessions[0].exec("commit");
    assert.deepEqual(await Promise.all(waiting), [1, 1]);
    assert.equal(await search(sessions[3], id), 1);
  });

  test("a user holds at most three connections of the Data API, whatever they read or write; others and the Worker go on", async () => {
    const [busy, other] = [await newUser("busy"), await newUser("other")];
    const answer = { session_id: randomUUID(), answer_id: randomUUID() };
    for (const [id, ids] of /** @type {[string, object][]} */ ([
      [busy, answer],
      [other, {}],
    ]))
      await asWorker(database, id, RECORD_TURN, [newTurn({ ...ids, question: "a".repeat(300) })]);
    await asWorker(
      database,
      busy,
      "select chat_record_refusal(gen_random_uuid(), null, 'Why?', $1, null, 'no_match')",
      [QUERY],
    );
    const statements = {
      "a slow regular expression": [
        String.raw`select from chat_messages where content ~ '^(a+)(a+)(a+)(a+)b?\1\2\3\4$'`,
      ],
      "a list of conversations": ["select id from chat_sessions"],
      "refused questions": ["select id from chat_refusals"],
      "a new title": ["update chat_sessions set title = 'New'"],
      "a deletion": ["delete from chat_sessions where title = 'None'"],
      "a deletion of everything": ["select chat_delete_user_data()"],
      "a turn": [RECORD_TURN, [newTurn()]],
      "a refused question": [
        "select chat_record_refusal(gen_random_uuid(), null, 'Why?', $1, null, 'no_match')",
        [QUERY],
      ],
      feedback: ["select chat_give_feedback($1, $2, 'up')", Object.values(answer)],
      "whether there are documents": ["select chat_has_documents()"],
      documents: ["select * from chat_documents(array[gen_random_uuid()])"],
      "a count": ["select chat_count_citation_use(1, 1, 1)"],
      "a search": ["select * from match_chunks($1)", [QUERY]],
    };
    const request = (session, id, /** @type {any[]} */ [sql, parameters = []]) =>
      session.transaction(async (transaction) => {
        await become(transaction, user(id));
        await transaction.query(sql, parameters);
        await transaction.rollback();
      });
    for (const session of sessions.slice(0, 3)) {
      await session.exec("begin");
      await become(session, user(busy));
      await session.query("select id from chat_sessions");
    }
    await database.exec("set statement_timeout = '2s'");
    try {
      for (const [name, statement] of Object.entries(statements)) {
        await assert.rejects(request(database, busy, statement), { code: "PT429", message: /at a time/ }, name);
        if (name !== "a slow regular expression") await request(database, other, statement);
      }
      assert.equal((await asWorker(database, busy, "select id from chat_messages")).length, 2);
    } finally {
      await database.exec("reset statement_timeout");
      await sessions[0].exec("rollback");
    }
    await request(database, busy, statements["a list of conversations"]);
    for (const session of sessions.slice(1, 3)) await session.exec("rollback");
  });

  test("a transaction with several statements holds one of the three connections of its user", async () => {
    const id = await newUser("several");
    await asWorker(database, id, RECORD_TURN, [newTurn()]);
    const begin = async (session) => {
      await session.exec("begin");
      await become(session, user(id));
      await session.query("select id from chat_sessions");
    };
    await begin(sessions[0]);
    await begin(sessions[1]);
    await sessions[0].exec("commit");
    await sessions[1].query("select id from chat_messages");
    try {
      await begin(sessions[2]);
      await begin(sessions[3]);
    } finally {
      for (const session of sessions.slice(1, 4)) await session.exec("rollback");
    }
  });

  test("a session that is deleted while its first turn is repeated is not recreated", async () => {
    const id = await newUser("deleter");
    const session = randomUUID();
    const turn = newTurn({ session_id: session });
    const record = (connection) =>
      connection.transaction(async (transaction) => {
        await become(transaction, user(id));
        await transaction.query(RECORD_TURN, [turn]);
      });
    await record(sessions[2]);
    await assert.rejects(
      oneAfterTheOther((first) => first.query("delete from chat_sessions where id = $1", [session]), record),
      /session not found/,
    );
    const { rows } = await database.query("select from chat_sessions where id = $1", [session]);
    assert.deepEqual(rows, []);
  });

  test("simultaneous turns that cite the same documents in different orders are all counted, without a deadlock", async () => {
    const rounds = 25;
    const id = await newUser("counted");
    const documents = Array.from({ length: 5 }, () => randomUUID());
    const before = await database.query(
      "select coalesce(sum(count), 0)::int as n from internal.chat_daily where measure = 'questions'",
    );
    const record = (connection, sources) =>
      asWorker(connection, id, RECORD_TURN, [newTurn({ sources, latency_ms: 100 })]);
    await Promise.all(
      sessions.map(async (session, index) => {
        for (let round = 0; round < rounds; round++) {
          await record(session, (index + round) % 2 ? documents : documents.toReversed());
        }
      }),
    );
    const { rows: daily } = await database.query(
      "select sum(count)::int as n from internal.chat_daily where measure = 'questions'",
    );
    assert.equal(daily[0].n - before.rows[0].n, SESSIONS * rounds);
    const { rows: cited } = await database.query(
      "select times_cited as n from internal.chat_daily_documents where document_id = any ($1)",
      [documents],
    );
    assert.deepEqual(
      cited,
      documents.map(() => ({ n: SESSIONS * rounds })),
    );
  });

  for (const [what, remove] of Object.entries({
    "a conversation": "delete from chat_sessions where user_id = $1",
    "a user": "delete from auth.users where id = $1",
  })) {
    test(`${what} can be deleted while feedback is given, without a deadlock`, async () => {
      const id = await newUser(`rater of ${what}`);
      const [session, answer] = [randomUUID(), randomUUID()];
      await asWorker(database, id, RECORD_TURN, [newTurn({ session_id: session, answer_id: answer })]);
      const waits = [await untilWaiting(1), await untilWaiting(2)];
      // Stops the feedback when it is counted.
      await sessions[0].exec("begin; lock internal.chat_daily in exclusive mode");
      const given = asWorker(sessions[1], id, "select chat_give_feedback($1, $2, 'down', embedding => $3) as found", [
        session,
        answer,
        QUERY,
      ]);
      await waits[0]();
      const deleted = sessions[2].query(remove, [id]);
      await waits[1]();
      await sessions[0].exec("commit");
      const [feedback, deletion] = await Promise.allSettled([given, deleted]);
      assert.deepEqual(feedback, { status: "fulfilled", value: [{ found: true }] });
      assert.equal(deletion.status, "fulfilled");
      assert.deepEqual((await database.query("select from chat_refusals where user_id = $1", [id])).rows, []);
    });
  }

  const forgetOldSessions = () =>
    database.query(
      `insert into internal.chat_deleted_sessions
         select gen_random_uuid(), now() - interval '3 days' from generate_series(1, 5)`,
    );

  test("two users who delete sessions do not wait for each other", async () => {
    await forgetOldSessions();
    const owners = [await newUser("first"), await newUser("second")];
    for (const owner of owners) await database.query("insert into chat_sessions (user_id) values ($1)", [owner]);
    const remove = (session, owner) => session.query("delete from chat_sessions where user_id = $1", [owner]);
    await sessions[0].exec("begin");
    await remove(sessions[0], owners[0]);
    await sessions[1].exec("set lock_timeout = '1s'");
    await remove(sessions[1], owners[1]);
    await sessions[1].exec("reset lock_timeout");
    await sessions[0].exec("commit");
  });

  test("users delete and write while chat_retain deletes, and nothing fails", async () => {
    await database.exec("update chat_settings set retention_days = 30");
    const owners = [await newUser("retained 1"), await newUser("retained 2")];
    const end = Date.now() + STORM_MS;
    const until = async (body) => {
      while (Date.now() < end) await body();
    };
    const asUser = (session, owner, sql, parameters) =>
      session.transaction(async (transaction) => {
        await become(transaction, user(owner));
        await transaction.query(sql, parameters);
      });
    const fill = async () => {
      await forgetOldSessions();
      const owner = owners[Math.floor(Math.random() * owners.length)];
      await database.query(
        `with session as (
           insert into chat_sessions (user_id, updated_at)
             select $1, now() - random() * interval '60 days' from generate_series(1, 20) returning id
         )
         insert into chat_refusals (user_id, session_id, question, embedding, reason)
           select $1, case when random() < 0.5 then id end, 'Why?', $2, 'no_match' from session`,
        [owner, QUERY],
      );
      await database.query(
        "update internal.usage set period_start = now() - interval '3 days' where user_id = any ($1)",
        [owners],
      );
    };
    const refusal = "select chat_record_refusal(gen_random_uuid(), null, 'Why?', $1, null, 'no_match')";
    try {
      await Promise.all([
        until(fill),
        until(() => sessions[0].query("select chat_retain()")),
        until(() => sessions[1].query("select chat_retain()")),
        until(() => asUser(sessions[2], owners[0], "select chat_delete_user_data()")),
        until(() => asUser(sessions[3], owners[1], "select chat_delete_user_data()")),
        until(() => asUser(sessions[4], owners[0], RECORD_TURN, [newTurn()])),
        until(() => asUser(sessions[5], owners[1], refusal, [QUERY])),
      ]);
    } finally {
      await database.exec("update chat_settings set retention_days = null");
    }
  });

  test("the planner's estimates do not reveal to a user what others ask, and what the chat answers", async () => {
    const [asker, curious] = [await newUser("asker"), await newUser("curious")];
    const question = "Am I to be dismissed?";
    const document = randomUUID();
    await database.exec("insert into assistants (name) values ('merger')");
    await database.query(
      "insert into chat_sessions (user_id, title, assistant) select $1, $2, 'merger' from generate_series(1, 500)",
      [asker, question],
    );
    await database.query(
      `insert into chat_messages (session_id, role, content, from_worker)
         select id, 'user', $2, true from chat_sessions where user_id = $1`,
      [asker, question],
    );
    await database.query(
      `insert into chat_messages (session_id, role, content, sources, hedged, mode, cut, truncated, latency_ms, from_worker,
           feedback_rating, feedback_reason, feedback_at)
         select id, 'assistant', 'Yes.', array[$2::uuid], true, 'generated', true, true, 9000, true, 'down', 'wrong', now()
           from chat_sessions where user_id = $1`,
      [asker, document],
    );
    await database.query(
      `insert into chat_refusals (user_id, session_id, question, embedding, best_score, reason, assistant)
         select $1, id, $2, $3, 0.3, 'no_match', 'merger' from chat_sessions where user_id = $1`,
      [asker, question, QUERY],
    );
    await database.exec("analyze");
    const expected = (table, condition) =>
      sessions[0].transaction(async (transaction) => {
        await become(transaction, user(curious));
        const { rows } = await transaction.query(`explain (format json) select 1 from ${table} where ${condition}`);
        return rows[0]["QUERY PLAN"][0].Plan["Plan Rows"];
      });
    const past = "'2020-01-01'";
    const future = "'2100-01-01'";
    // Of each pair, one is true of the rows of the asker, or of more of them.
    for (const [table, ...conditions] of [
      ["chat_sessions", `title = '${question}'`, "title = 'Who?'"],
      ["chat_sessions", "assistant = 'merger'", "assistant = 'Who?'"],
      ["chat_sessions", `user_id = '${asker}'`, `user_id = '${randomUUID()}'`],
      ["chat_sessions", `created_at > ${past}`, `created_at > ${future}`],
      ["chat_sessions", `updated_at > ${past}`, `updated_at > ${future}`],
      ["chat_messages", `content = '${question}'`, "content = 'Who?'"],
      ["chat_messages", `sources @> array['${document}'::uuid]`, `sources @> array['${randomUUID()}'::uuid]`],
      ["chat_messages", "feedback_rating is null", "refusal is null"],
      ["chat_messages", "hedged", "not hedged"],
      ["chat_messages", "mode = 'generated'", "mode = 'extractive'"],
      ["chat_messages", "cut", "not cut"],
      ["chat_messages", "truncated", "not truncated"],
      ["chat_messages", "latency_ms > 5000", "latency_ms > 10000"],
      ["chat_messages", "feedback_rating = 'down'", "feedback_rating = 'up'"],
      ["chat_messages", "feedback_reason = 'wrong'", "feedback_reason = 'other'"],
      ["chat_messages", `feedback_at > ${past}`, `feedback_at > ${future}`],
      ["chat_messages", "from_worker", "not from_worker"],
      ["chat_messages", `created_at > ${past}`, `created_at > ${future}`],
      ["chat_refusals", `question = '${question}'`, "question = 'Who?'"],
      ["chat_refusals", "assistant = 'merger'", "assistant = 'Who?'"],
      ["chat_refusals", `user_id = '${asker}'`, `user_id = '${randomUUID()}'`],
      ["chat_refusals", "best_score > 0.2", "best_score > 0.4"],
      ["chat_refusals", "reason = 'no_match'", "reason = 'disliked'"],
      ["chat_refusals", `created_at > ${past}`, `created_at > ${future}`],
    ]) {
      const [first, second] = [await expected(table, conditions[0]), await expected(table, conditions[1])];
      assert.equal(first, second, `${table}: ${conditions.join(" and ")}`);
    }
    const { rows: known } = await database.query(
      `select format('%s.%s', s.tablename, s.attname) as name from pg_stats s
         where s.schemaname = 'public'
           and has_column_privilege('authenticated', format('public.%I', s.tablename), s.attname, 'select')
         order by name`,
    );
    assert.deepEqual(
      known.map(({ name }) => name),
      // docs/threat-model.md says what they reveal.
      ["chat_messages.id", "chat_messages.role", "chat_messages.session_id", "chat_refusals.id", "chat_sessions.id"],
    );
    await database.query("delete from auth.users where id = $1", [asker]);
    await database.exec("delete from assistants where name = 'merger'");
  });

  test("the conversations of a user are read from one index, although there are no statistics", async () => {
    const owner = await newUser("owner of many");
    await database.query(
      "insert into chat_sessions (user_id, title) select $1, 'Why?' from generate_series(1, 20000)",
      [owner],
    );
    await database.exec("analyze chat_sessions");
    const plan = await sessions[0].transaction(async (transaction) => {
      await become(transaction, user(owner));
      // As the Worker lists them.
      const { rows } = await transaction.query(
        `explain (format json) select id from chat_sessions where user_id = '${owner}' and assistant = 'default'
           order by updated_at desc, id desc limit 50`,
      );
      return JSON.stringify(rows);
    });
    assert.deepEqual(plan.match(/(?<="Index Name":")\w+/g), ["chat_sessions_user_newest_idx"]);
    await database.query("delete from auth.users where id = $1", [owner]);
  });

  const state = async (chunkId) => {
    const sql = `select c.stale, c.searchable as chunk, e.searchable as embedding
      from kb_chunks c left join kb_embeddings e on e.chunk_id = c.id where c.id = $1`;
    return (await database.query(sql, [chunkId])).rows[0];
  };

  test("versions of one source that are published simultaneously become one document", async () => {
    for (let round = 0; round < 5; round++) {
      const versions = [];
      for (const index of sessions.keys()) versions.push(await pending(`v${index}`));
      const answers = await Promise.all(versions.map(({ id }, index) => publish(sessions[index], id)));
      assert.equal(new Set(answers.map(({ rows }) => rows[0].id)).size, 1);
      const { rows } = await database.query("select status, content_hash from kb_documents");
      assert.equal(rows.length, 1);
      const chunks = (await database.query("select content from kb_chunks order by ordinal")).rows;
      const hash = rows[0].content_hash;
      assert.deepEqual(chunks, [{ content: `${hash} one` }, { content: `${hash} two` }]);
      await assertConsistent();
    }
  });

  test("a document that is published twice simultaneously is published once", async () => {
    const { id } = await pending("v1");
    const results = await Promise.allSettled(sessions.map((session) => publish(session, id)));
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
    const reasons = results.flatMap((result) => (result.status === "rejected" ? result.reason.message : []));
    assert.ok(
      reasons.every((reason) => /only a pending document/.test(reason)),
      reasons.join(),
    );
  });

  test("a document that an administrator disables during publication stays disabled in its new version", async () => {
    const first = await pending("v1");
    await publish(database, first.id);
    const second = await pending("v2");
    await oneAfterTheOther(
      (admin) =>
        admin.query("update kb_documents set enabled = false where source = $1 and status = 'ready'", [source]),
      (sync) => publish(sync, second.id),
    );
    assert.deepEqual(await state(second.chunkIds[0]), { stale: false, chunk: false, embedding: false });
    await assertConsistent();
  });

  test("a publish that comes first is followed by the administrator's change", async () => {
    const { id, chunkIds } = await pending("v1");
    await oneAfterTheOther(
      (sync) => publish(sync, id),
      (admin) => admin.query("update kb_documents set enabled = false where source = $1", [source]),
    );
    assert.deepEqual(await state(chunkIds[0]), { stale: false, chunk: false, embedding: false });
  });

  test("of several runs that begin simultaneously exactly one gets the collection", async () => {
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        sessions.map((session) => session.query("select kb_begin_sync('guide', $1, 'host') as lease", [randomUUID()])),
      );
      const leases = answers.map(({ rows }) => rows[0].lease);
      assert.equal(leases.filter(({ acquired }) => acquired).length, 1);
      assert.equal(new Set(leases.map((lease) => lease.run_id)).size, 1);
      // The lease expires, so that the next round can take it.
      await database.query("update kb_syncs set renewed_at = renewed_at - interval '2 minutes'");
    }
    await database.query("delete from kb_syncs");
  });

  test("vectors for a text that is edited meanwhile are not written", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["kettle"] });
    const { rows } = await oneAfterTheOther(
      (admin) => admin.query("update kb_chunks set content = 'teapot'"),
      (sync) =>
        sync.query("select kb_write_vectors($1) as id", [
          JSON.stringify([{ chunk_id: chunkIds[0], text_hash: md5("\nkettle"), embedding: QUERY, model: "test" }]),
        ]),
    );
    assert.deepEqual(rows, []);
    assert.deepEqual(await state(chunkIds[0]), { stale: true, chunk: false, embedding: false });
  });

  test("a text that is edited while its vectors are written is stale", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["kettle"] });
    await database.query("update kb_chunks set stale = true");
    await oneAfterTheOther(
      (sync) => renewVectors(sync, chunkIds),
      (admin) => admin.query("update kb_chunks set content = 'teapot'"),
    );
    assert.deepEqual(await state(chunkIds[0]), { stale: true, chunk: false, embedding: false });
    await assertConsistent();
  });

  test("a text that is edited while its first vector is written is not found", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["kettle"], similarities: [null] });
    await oneAfterTheOther(
      (sync) =>
        sync.query("insert into kb_embeddings (chunk_id, embedding, model) values ($1, $2, 'test')", [
          chunkIds[0],
          QUERY,
        ]),
      (admin) => admin.query("update kb_chunks set content = 'teapot'"),
    );
    assert.deepEqual(await state(chunkIds[0]), { stale: true, chunk: false, embedding: false });
  });

  test("no chunk of a document that is disabled while chunks are added is found", async () => {
    const { id } = await writeDocument(database, { contents: ["kettle"] });
    const added = randomUUID();
    await oneAfterTheOther(
      (sync) =>
        sync.query("select kb_write_chunks($1)", [
          JSON.stringify([{ id: added, document_id: id, content: "teapot", embedding: QUERY, model: "test" }]),
        ]),
      (admin) => admin.query("update kb_documents set enabled = false"),
    );
    assert.deepEqual(await state(added), { stale: false, chunk: false, embedding: false });
    await assertConsistent();
  });

  test("many concurrent writers of every kind cause no deadlock and keep all invariants", async () => {
    const pick = (list) => list[Math.floor(Math.random() * list.length)];
    const sources = ["guide/a.md", "guide/b.md", "guide/c.md"];
    const anyChunks = async (session) =>
      (await session.query("select id from kb_chunks order by random() limit 3")).rows.map((row) => row.id);
    const steps = {
      publish: async (session) => {
        const contents = [pick(["tea", "cup"]), pick(["milk", "spoon"])];
        const { id } = await writeDocument(session, { source: pick(sources), status: "pending", contents });
        await publish(session, id);
      },
      "write chunks": async (session) => {
        const { rows } = await session.query("select id from kb_documents order by random() limit 1");
        const chunk = { id: randomUUID(), content: pick(["tea", "cup"]), embedding: QUERY, model: "test" };
        const ordinal = Math.floor(Math.random() * 1e9);
        for (const { id: document_id } of rows) {
          await session.query("select kb_write_chunks($1)", [JSON.stringify([{ ...chunk, ordinal, document_id }])]);
        }
      },
      switch: (session) => session.query("update kb_documents set enabled = not enabled where collection = 'guide'"),
      "switch one": (session) =>
        session.query("update kb_documents set enabled = not enabled where source = $1", [pick(sources)]),
      restrict: (session) =>
        session.query("update kb_documents set audience = $1 where source = $2", [
          pick([null, ["team:a"]]),
          pick(sources),
        ]),
      edit: async (session) =>
        session.query("update kb_chunks set content = $1 where id = any ($2)", [
          pick(["tea", "cup", "milk"]),
          await anyChunks(session),
        ]),
      "edit all": (session) =>
        session.query("update kb_chunks set meta = jsonb_build_object('section', $1::text)", [pick(["A", "B"])]),
      renew: async (session) => renewVectors(session, await anyChunks(session)),
      "delete chunks": async (session) =>
        session.query("delete from kb_chunks where id = any ($1)", [(await anyChunks(session)).slice(1)]),
      "delete documents": (session) => session.query("delete from kb_documents where source = $1", [pick(sources)]),
      "delete documents by id": async (session) => {
        const { rows } = await session.query("select id from kb_documents order by random() limit 2");
        await session.query("select kb_delete_documents($1)", [rows.map((row) => row.id)]);
      },
      recount: (session) => session.query("select kb_recount_lexemes()"),
      "touch vectors": async (session) =>
        session.query("update kb_embeddings set model = 'test' where chunk_id = any ($1)", [await anyChunks(session)]),
      search: (session) => session.query("select * from match_chunks($1, query_text => 'tea and milk')", [QUERY]),
    };
    // Errors of a session whose document or chunk another session has just deleted.
    const expected =
      /does not exist|only a pending document|has no chunks|kb_chunks_document_id_fkey|kb_embeddings_chunk_id_fkey/;
    const done = Object.fromEntries(Object.keys(steps).map((name) => [name, 0]));
    const deadline = Date.now() + STORM_MS;
    await Promise.all(
      sessions.map(async (session) => {
        while (Date.now() < deadline) {
          const name = pick(Object.keys(steps));
          try {
            await steps[name](session);
            done[name]++;
          } catch (error) {
            const { code, message, detail, where } = /** @type {import("pg").DatabaseError} */ (error);
            if (code === "40P01" || !expected.test(message)) {
              throw new Error(`${name}: ${message} ${detail ?? ""} ${where ?? ""}`, { cause: error });
            }
          }
        }
      }),
    );
    assert.ok(
      Object.values(done).every((count) => count > 0),
      JSON.stringify(done),
    );
    await assertConsistent();
  });
}

function md5(text) {
  return createHash("md5").update(text).digest("hex");
}

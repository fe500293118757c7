import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { assertDenied } from "../support/assert-denied.mjs";
import { embeddingWithSimilarity, QUERY } from "../support/knowledge-base.mjs";
import { WORKER } from "../support/client.mjs";

const TABLE = "chat_refusals";
const VISIBLE = "id,user_id,session_id,question,best_score,reason,created_at";

/** Refused questions: their owners, and their groups in the insights. */
export function chatRefusals({ database, anon, alice, bob, service, signUp }) {
  const sessions = {};

  const open = async ({ id }) => (await service.insert("chat_sessions", { user_id: id, title: "Refused" })).body[0].id;
  const settings = (values) => service.update("chat_settings", "id=is.true", values);

  before(async () => {
    sessions.alice = await open(alice);
    sessions.bob = await open(bob);
    await settings({ gap_users: 1 });
  });
  afterEach(async () => {
    await service.remove(TABLE, "id=not.is.null");
    await settings({ keep_refusals: "full", gap_users: 1, retention_days: null });
  });
  after(async () => {
    await database.exec("delete from internal.usage");
    await service.remove("chat_sessions", "id=not.is.null");
    await settings({ gap_users: 2 });
  });

  const refusal = (overrides = {}) => ({
    id: randomUUID(),
    session_id: null,
    question: "Do you sell bicycles?",
    embedding: QUERY,
    best_score: 0.21,
    reason: "no_match",
    ...overrides,
  });
  /** Records a refusal, by default as the Worker. */
  const record = (client, row, /** @type {Record<string, string>} */ headers = WORKER) =>
    client.directRpc("chat_record_refusal", row, headers);
  const rows = async () => (await service.select(TABLE, "order=created_at,id")).body;
  /** Records a refusal and returns the row that was added. */
  const add = async (client, overrides, headers) => {
    const before = new Set((await rows()).map(({ id }) => id));
    const { status, body } = await record(client, refusal(overrides), headers);
    assert.ok(status < 300, JSON.stringify(body));
    return (await rows()).find(({ id }) => !before.has(id));
  };
  const own = (client) => client.select(TABLE, `select=${VISIBLE}`);
  const gaps = async () => (await service.rpc("chat_insights_gaps", {})).body;

  test("a refusal belongs to the user who was refused", async () => {
    const row = await add(alice, { session_id: sessions.alice });
    assert.equal(row.user_id, alice.id);
    assert.deepEqual(
      (await own(alice)).body.map(({ id }) => id),
      [row.id],
    );
    assert.deepEqual((await own(bob)).body, []);
    assertDenied(await anon.select(TABLE, `select=${VISIBLE}`), 401, TABLE);
  });

  test("a user cannot record a refusal in another user's session, and anon cannot record any", async () => {
    for (const session_id of [sessions.alice, randomUUID()]) {
      const { status, body } = await record(bob, refusal({ session_id }));
      assert.deepEqual([status, body.code], [403, "42501"]);
    }
    assert.equal((await record(anon, refusal())).status, 401);
    assert.equal((await record(service, refusal())).status, 403);
    assert.deepEqual(await rows(), []);
  });

  test("users and anon cannot write, change or delete rows of chat_refusals, not even their own", async () => {
    const row = await add(alice);
    for (const [client, status] of [
      [alice, 403],
      [bob, 403],
      [anon, 401],
    ]) {
      const minimal = { prefer: "return=minimal" };
      const url = `/rest/v1/${TABLE}?id=eq.${row.id}`;
      assertDenied(await client.request("POST", `/rest/v1/${TABLE}`, refusal(), minimal), status, TABLE);
      assertDenied(await client.request("PATCH", url, { question: "Never asked" }, minimal), status, TABLE);
      assertDenied(await client.request("DELETE", url, undefined, minimal), status, TABLE);
    }
    assert.deepEqual(await rows(), [row]);
  });

  test("a question recorded twice is one row", async () => {
    const id = randomUUID();
    await add(alice, { id });
    assert.equal(await add(alice, { id, question: "Other words?" }), undefined);
    assert.equal((await rows()).length, 1);
  });

  test("the same id from two users makes two questions, in two groups if they are dissimilar", async () => {
    const id = randomUUID();
    await add(alice, { id });
    await add(bob, { id, embedding: embeddingWithSimilarity(0) });
    for (const client of [alice, bob]) assert.equal((await own(client)).body.length, 1);
    assert.deepEqual(
      (await gaps()).map(({ questions, users }) => [questions, users]),
      [
        [1, 1],
        [1, 1],
      ],
    );
  });

  /** @type {Record<string, [overrides: object, reason: string]>} */
  const rejected = {
    "a question beyond the longest message": [{ question: "x".repeat(4001) }, "question_length"],
    "a blank question": [{ question: " \n" }, "question_not_blank"],
    "an unknown reason": [{ reason: "mood" }, "reason_valid"],
    "a score outside the range of a cosine": [{ best_score: 1.5 }, "best_score_is_cosine"],
    "a score that is not a number": [{ best_score: "NaN" }, "best_score_is_cosine"],
    "a vector without direction": [{ embedding: JSON.stringify(Array(384).fill(0)) }, "embedding_is_unit_length"],
    "a vector of another size": [{ embedding: "[1,0]" }, "expected 384 dimensions"],
  };
  for (const [title, [overrides, reason]] of Object.entries(rejected)) {
    test(`${title} is rejected`, async () => {
      const { status, body } = await record(alice, refusal(overrides));
      assert.ok(status >= 400, String(status));
      assert.match(body.message, new RegExp(reason));
    });
  }

  test("4,000 characters are accepted, whatever their size in bytes", async () => {
    assert.equal((await add(alice, { question: "👩".repeat(4000) })).question.length, 8000);
  });

  test("deleting a conversation deletes its refused questions", async () => {
    const session = await open(alice);
    await add(alice, { session_id: session });
    const kept = await add(alice, { session_id: sessions.alice });
    await alice.remove("chat_sessions", `id=eq.${session}`);
    assert.deepEqual(await rows(), [kept]);
  });

  test("chat_delete_user_data deletes all data of the caller and nothing of others", async () => {
    const carol = await signUp("carol-deletes@example.com", {});
    await open(carol);
    await add(carol, { session_id: await open(carol) });
    await add(carol);
    const kept = await add(alice, { session_id: sessions.alice });
    for (let turn = 0; turn < 2; turn++) {
      assert.ok((await carol.rpc("chat_delete_user_data", {})).status < 300);
      assert.deepEqual(await rows(), [kept]);
      assert.deepEqual((await carol.select("chat_sessions")).body, []);
      assert.equal((await alice.select("chat_sessions")).body.length, 1);
    }
  });

  test("keep_refusals off keeps nothing, and anonymous keeps neither user nor session nor time", async () => {
    await settings({ keep_refusals: "off" });
    assert.equal(await add(alice, { session_id: sessions.alice }), undefined);
    await settings({ keep_refusals: "anonymous" });
    const row = await add(alice, { session_id: sessions.alice });
    assert.deepEqual([row.user_id, row.session_id], [null, null]);
    assert.match(row.created_at, /[T ]00:00:00/);
    assert.ok(!JSON.stringify(row).includes(alice.id));
    assert.deepEqual((await own(alice)).body, []);
    assert.equal((await record(bob, refusal({ session_id: sessions.alice }))).status < 300, true);
  });

  test("anonymous refusals still distinguish repetitions and users", async () => {
    await settings({ keep_refusals: "anonymous", gap_users: 2 });
    const id = randomUUID();
    await add(alice, { id });
    assert.equal(await add(alice, { id }), undefined, "a repetition");
    await add(alice);
    assert.deepEqual(await gaps(), [], "one user, twice");
    await add(bob);
    assert.deepEqual(
      (await gaps()).map(({ questions, users }) => [questions, users]),
      [[3, 2]],
    );
  });

  test("chat_retain applies keep_refusals to earlier questions", async () => {
    const old = await add(alice, { session_id: sessions.alice });
    await settings({ keep_refusals: "anonymous" });
    assert.deepEqual((await service.rpc("chat_retain", {})).body, {
      sessions: 0,
      refusals: 0,
      anonymous: 1,
      anonymous_users: 0,
      undeletable_users: 0,
      scheduled: false,
      more: false,
    });
    const [row] = await rows();
    assert.deepEqual(row, {
      ...old,
      user_id: null,
      session_id: null,
      created_at: row.created_at,
    });
    assert.match(row.created_at, /[T ]00:00:00/);
    await settings({ keep_refusals: "off" });
    assert.equal((await service.rpc("chat_retain", {})).body.refusals, 1);
    assert.deepEqual(await rows(), []);
  });

  test("chat_retain deletes data older than retention_days, and nothing without it", async () => {
    const [old, recent] = [await open(alice), await open(alice)];
    await add(alice, { session_id: old });
    const kept = await add(alice, { session_id: recent });
    const oldAlone = await add(alice);
    await database.query("update chat_sessions set updated_at = now() - interval '30 days 1 hour' where id = $1", [
      old,
    ]);
    await database.query("update chat_refusals set created_at = now() - interval '31 days' where id = $1", [
      oldAlone.id,
    ]);
    assert.deepEqual((await service.rpc("chat_retain", {})).body, {
      sessions: 0,
      refusals: 0,
      anonymous: 0,
      anonymous_users: 0,
      undeletable_users: 0,
      scheduled: false,
      more: false,
    });
    await settings({ retention_days: 30 });
    assert.deepEqual((await service.rpc("chat_retain", {})).body, {
      sessions: 1,
      refusals: 2,
      anonymous: 0,
      anonymous_users: 0,
      undeletable_users: 0,
      scheduled: false,
      more: false,
    });
    assert.deepEqual(
      (await rows()).map(({ id }) => id),
      [kept.id],
    );
    for (const wrong of [0, -1, 36_501]) assert.ok((await settings({ retention_days: wrong })).status >= 400);
    assert.ok((await settings({ keep_refusals: "some" })).status >= 400);
    assert.ok((await settings({ gap_users: 0 })).status >= 400);
  });

  test("with pg_cron, a change of the settings schedules one nightly run", async () => {
    await database.exec(`
      create schema cron;
      create table cron.job (name text primary key, schedule text, command text);
      create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as $$
        insert into cron.job values (job_name, schedule, command)
          on conflict (name) do update set schedule = excluded.schedule returning 1::bigint
      $$;`);
    try {
      await settings({ retention_days: 30 });
      await settings({ keep_refusals: "anonymous" });
      const { rows: jobs } = await database.query("select * from cron.job");
      assert.deepEqual(jobs, [
        { name: "evidence-chat-retention", schedule: "23 3 * * *", command: "call internal.chat_retain_all()" },
      ]);
      assert.equal((await service.rpc("chat_retain", {})).body.scheduled, true);
    } finally {
      await database.exec("drop schema cron cascade");
    }
  });

  test("the gaps count only refusals recorded by the Worker", async () => {
    const forged = await add(alice, { question: "Call +1 900 123" }, {});
    assert.equal(forged.from_worker, false);
    assert.deepEqual(await gaps(), []);
    await add(alice);
    assert.equal((await gaps())[0].examples[0], "Do you sell bicycles?");
    await add(bob, {}, {});
  });

  test("a refusal recorded directly does not join questions of others into one gap", async () => {
    await settings({ gap_users: 2 });
    // Vectors 36 degrees apart (cosine 0.81) are near enough to share a group.
    const at = (degrees) => {
      const [x, y] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
      return JSON.stringify([x, y, ...Array(382).fill(0)]);
    };
    await add(alice, { question: "What does my diagnosis mean?", embedding: at(0) });
    for (const degrees of [36, 72]) await add(bob, { question: "Bridge", embedding: at(degrees) }, {});
    await add(bob, { question: "Do you sell bicycles?", embedding: at(90) });
    assert.deepEqual(await gaps(), []);
  });

  test("a gap is shown once gap_users users have asked, however often one of them asks", async () => {
    await settings({ gap_users: 2 });
    for (let turn = 0; turn < 5; turn++) await add(alice);
    assert.deepEqual(await gaps(), []);
    await add(bob);
    assert.deepEqual(
      (await gaps()).map(({ questions, users }) => [questions, users]),
      [[6, 2]],
    );
  });

  test("similar questions share a group across users", async () => {
    const first = await add(alice);
    assert.equal((await add(bob, { embedding: embeddingWithSimilarity(0.81) })).group_id, first.group_id);
    const other = await add(bob, { embedding: embeddingWithSimilarity(0.79, 7) });
    assert.notEqual(other.group_id, first.group_id);
    assert.equal((await add(alice, { embedding: embeddingWithSimilarity(0.78, 7) })).group_id, other.group_id);
  });

  test("the database sets group, asker and time for every writer", async () => {
    const first = await add(alice);
    const { rows: written } = await database.query(
      `insert into chat_refusals (user_id, question, embedding, reason, group_id, asker, created_at)
         values ($1, 'Q?', $2, 'no_match', $3, '\\x00', '2001-01-01') returning group_id, asker, created_at`,
      [bob.id, embeddingWithSimilarity(0), first.group_id],
    );
    const [forged] = written;
    assert.equal(forged.asker.length, 32);
    assert.notEqual(forged.group_id, first.group_id);
    assert.notEqual(forged.asker, first.asker);
    assert.ok(new Date(forged.created_at) > new Date("2020-01-01"));
  });

  test("a user cannot see the group of a question or who asks similar ones", async () => {
    await add(alice);
    await add(bob);
    for (const column of ["group_id", "asker", "embedding"]) {
      assertDenied(await bob.select(TABLE, `select=id,${column}`), 403, TABLE);
      assertDenied(await bob.select(TABLE, `select=id&${column}=not.is.null`), 403, TABLE);
    }
  });

  test("the gaps count each group, most users first, under its most typical question", async () => {
    const asked = [
      [alice, { question: "Rarely", embedding: embeddingWithSimilarity(0), best_score: null, reason: "empty_kb" }],
      [alice, { question: "Off to one side", embedding: embeddingWithSimilarity(0.9, 1), best_score: 0.1 }],
      [bob, { question: "In the middle", best_score: 0.3, reason: "weak_evidence" }],
      [bob, { question: "Off to the other", embedding: embeddingWithSimilarity(0.9, 2), best_score: 0.2 }],
    ];
    const added = [];
    for (const [client, overrides] of asked) added.push(await add(client, overrides));
    const [often, rarely, ...others] = await gaps();
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...often, first_asked: Date.parse(often.first_asked), last_asked: Date.parse(often.last_asked) },
      {
        group_id: added[1].group_id,
        assistant_name: "default",
        examples: ["In the middle", "Off to one side", "Off to the other"],
        questions: 3,
        disliked: 0,
        users: 2,
        best_score: 0.3,
        reasons: ["no_match", "weak_evidence"],
        first_asked: Date.parse(added[1].created_at),
        last_asked: Date.parse(added[3].created_at),
      },
    );
    assert.deepEqual(
      [rarely.examples[0], rarely.questions, rarely.users, rarely.best_score, rarely.reasons],
      ["Rarely", 1, 1, null, ["empty_kb"]],
    );
  });

  test("deleting a user deletes their refusals and keeps the group", async () => {
    const carol = await signUp("carol@example.com", {});
    const first = await add(carol);
    const second = await add(alice);
    assert.equal(second.group_id, first.group_id);
    await database.query("delete from auth.users where id = $1", [carol.id]);
    assert.deepEqual(
      (await gaps()).map(({ group_id, questions, users }) => [group_id, questions, users]),
      [[first.group_id, 1, 1]],
    );
  });
}

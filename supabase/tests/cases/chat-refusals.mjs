import assert from "node:assert/strict";
import { afterEach, before, test } from "node:test";
import { assertDenied } from "../support/assert-denied.mjs";
import { embeddingWithSimilarity, QUERY } from "../support/knowledge-base.mjs";

const TABLE = "chat_refusals";
const VISIBLE = "id,user_id,session_id,question,embedding,best_score,reason,created_at";

/** Refused questions: whose they are, and how they come together for the administrator. */
export function chatRefusals({ database, anon, alice, bob, service }) {
  const sessions = {};

  before(async () => {
    for (const [name, user] of Object.entries({ alice, bob })) {
      sessions[name] = (await user.insert("chat_sessions", { title: "Refused" })).body[0].id;
    }
  });
  afterEach(() => service.remove(TABLE, "id=not.is.null"));

  const refusal = (overrides = {}) => ({
    question: "Do you sell bicycles?",
    embedding: QUERY,
    best_score: 0.21,
    reason: "no_match",
    ...overrides,
  });
  /** As the Worker writes it. */
  const insert = (client, row) =>
    client.request("POST", `/rest/v1/${TABLE}?select=id`, row, {
      prefer: "return=representation, resolution=ignore-duplicates",
    });
  const add = async (client, overrides) => {
    const { status, body } = await insert(client, refusal(overrides));
    assert.equal(status, 201, JSON.stringify(body));
    return (await service.select(TABLE, `id=eq.${body[0].id}`)).body[0];
  };
  const own = (client) => client.select(TABLE, `select=${VISIBLE}`);
  const gaps = async () => (await service.select("content_gaps")).body;

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

  test("a user cannot write a refusal for somebody else or into their session", async () => {
    for (const forged of [{ user_id: alice.id }, { session_id: sessions.alice }, { session_id: crypto.randomUUID() }]) {
      const { status, body } = await insert(bob, refusal(forged));
      assert.deepEqual([status, body.code], [403, "42501"]);
    }
    assert.equal((await insert(anon, refusal({ user_id: alice.id }))).status, 401);
    assert.deepEqual((await service.select(TABLE)).body, []);
  });

  test("users and anon change and delete nothing, not even their own", async () => {
    const row = await add(alice);
    for (const [client, status] of [
      [alice, 403],
      [bob, 403],
      [anon, 401],
    ]) {
      const minimal = { prefer: "return=minimal" };
      const url = `/rest/v1/${TABLE}?id=eq.${row.id}`;
      assertDenied(await client.request("PATCH", url, { question: "Never asked" }, minimal), status, TABLE);
      assertDenied(await client.request("DELETE", url, undefined, minimal), status, TABLE);
    }
    assert.deepEqual((await service.select(TABLE)).body, [row]);
    const [changed] = (await service.update(TABLE, `id=eq.${row.id}`, { question: "Any bikes?" })).body;
    assert.equal(changed.question, "Any bikes?");
  });

  test("the same question written twice is one row", async () => {
    const id = crypto.randomUUID();
    await add(alice, { id });
    const again = await insert(alice, refusal({ id }));
    assert.ok(again.status < 300, String(again.status));
    assert.equal((await service.select(TABLE)).body.length, 1);
  });

  test("the same id of two users is two questions, of two groups if they are unlike", async () => {
    const id = crypto.randomUUID();
    for (const [client, embedding] of [
      [alice, QUERY],
      [bob, embeddingWithSimilarity(0)],
    ]) {
      const { status, body } = await insert(client, refusal({ id, embedding }));
      assert.deepEqual([status, body], [201, [{ id }]]);
      assert.equal((await own(client)).body.length, 1);
    }
    assert.deepEqual(
      (await gaps()).map(({ questions, users }) => [questions, users]),
      [
        [1, 1],
        [1, 1],
      ],
    );
  });

  const rejected = {
    "a question beyond the longest message": [{ question: "x".repeat(4001) }, "question_length"],
    "a blank question": [{ question: " \n" }, "question_not_empty"],
    "an unknown reason": [{ reason: "mood" }, "reason_known"],
    "a score that is no cosine": [{ best_score: 1.5 }, "best_score_is_cosine"],
    "a score that is not a number": [{ best_score: "NaN" }, "best_score_is_cosine"],
    "a vector without direction": [{ embedding: JSON.stringify(Array(384).fill(0)) }, "embedding_is_unit"],
    "a vector of another size": [{ embedding: "[1,0]" }, "expected 384 dimensions"],
  };
  for (const [title, [overrides, reason]] of Object.entries(rejected)) {
    test(`${title} is rejected`, async () => {
      const { status, body } = await insert(alice, refusal(overrides));
      assert.ok(status >= 400, String(status));
      assert.match(body.message, new RegExp(reason));
    });
  }

  test("4,000 characters are accepted, whatever their size in bytes", async () => {
    assert.equal((await add(alice, { question: "👩".repeat(4000) })).question.length, 8000);
  });

  test("a refusal outlives its session", async () => {
    const [session] = (await alice.insert("chat_sessions", { title: "Short" })).body;
    const { id } = await add(alice, { session_id: session.id });
    await alice.remove("chat_sessions", `id=eq.${session.id}`);
    assert.equal((await service.select(TABLE, `id=eq.${id}`)).body[0].session_id, null);
  });

  test("similar questions share a group, also across users", async () => {
    const first = await add(alice);
    assert.equal((await add(bob, { embedding: embeddingWithSimilarity(0.81) })).group_id, first.group_id);
    const other = await add(bob, { embedding: embeddingWithSimilarity(0.79, 7) });
    assert.notEqual(other.group_id, first.group_id);
    assert.equal((await add(alice, { embedding: embeddingWithSimilarity(0.78, 7) })).group_id, other.group_id);
  });

  test("group and time are set by the database", async () => {
    const first = await add(alice);
    const forged = await add(bob, {
      embedding: embeddingWithSimilarity(0),
      group_id: first.group_id,
      created_at: "2001-01-01T00:00:00Z",
    });
    assert.notEqual(forged.group_id, first.group_id);
    assert.ok(Date.parse(forged.created_at) > Date.parse("2020-01-01"));
  });

  test("a user does not learn which group a question is in", async () => {
    await add(alice);
    await add(bob);
    assertDenied(await bob.select(TABLE, "select=id,group_id"), 403, TABLE);
    assertDenied(await bob.select(TABLE, "select=id&group_id=not.is.null"), 403, TABLE);
  });

  test("content_gaps counts each group, most asked first, under its most typical question", async () => {
    const asked = [
      [alice, { question: "Rarely", embedding: embeddingWithSimilarity(0), best_score: null, reason: "empty_kb" }],
      [alice, { question: "Off to one side", embedding: embeddingWithSimilarity(0.9, 1), best_score: 0.1 }],
      [bob, { question: "In the middle", best_score: 0.3, reason: "weak_evidence" }],
      [bob, { question: "Off to the other", embedding: embeddingWithSimilarity(0.9, 2), best_score: 0.2 }],
    ];
    const rows = [];
    for (const [client, overrides] of asked) rows.push(await add(client, overrides));
    const [often, rarely, ...others] = await gaps();
    assert.deepEqual(others, []);
    assert.deepEqual(
      { ...often, first_asked: Date.parse(often.first_asked), last_asked: Date.parse(often.last_asked) },
      {
        group_id: rows[1].group_id,
        question: "In the middle",
        questions: 3,
        users: 2,
        best_score: 0.3,
        reasons: ["no_match", "weak_evidence"],
        first_asked: Date.parse(rows[1].created_at),
        last_asked: Date.parse(rows[3].created_at),
      },
    );
    assert.deepEqual(
      [rarely.question, rarely.questions, rarely.users, rarely.best_score, rarely.reasons],
      ["Rarely", 1, 1, null, ["empty_kb"]],
    );
  });

  test("content_gaps is the service role's alone", async () => {
    for (const [client, expected] of [
      [anon, 401],
      [alice, 403],
    ]) {
      const { status, body } = await client.select("content_gaps");
      assert.deepEqual([status, body.code], [expected, "42501"]);
    }
  });

  test("a user that is deleted takes their refusals along, and the group stays", async () => {
    const { body } = await anon.request("POST", "/auth/v1/signup", {
      email: "carol@example.com",
      password: "correct horse",
    });
    const carol = body.user.id;
    const first = (await service.insert(TABLE, refusal({ user_id: carol }))).body[0];
    const second = await add(alice);
    assert.equal(second.group_id, first.group_id);
    await database.query("delete from auth.users where id = $1", [carol]);
    assert.deepEqual(
      (await gaps()).map(({ group_id, questions, users }) => [group_id, questions, users]),
      [[first.group_id, 1, 1]],
    );
  });
}

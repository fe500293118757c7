import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";

/** Question and answer are written together, once, and only into the caller's own sessions. */
export function recordTurn({ anon, alice, bob, service }) {
  after(() => service.remove("chat_sessions", "id=not.is.null"));

  const turn = (changes = {}) => ({
    session_id: randomUUID(),
    title: "Refunds",
    question_id: randomUUID(),
    question: "How do I get a refund?",
    answer_id: randomUUID(),
    answer: "Ask for it. [1]",
    citations: [{ index: 1, title: "refunds.md" }],
    ...changes,
  });
  const record = (client, parameters) => client.rpc("chat_record_turn", parameters);
  const recorded = async (client, parameters) => {
    const { status, body } = await record(client, parameters);
    assert.ok(status < 300, JSON.stringify([status, body]));
  };
  const messages = async ({ session_id }) =>
    (await service.select("chat_messages", `session_id=eq.${session_id}&order=created_at`)).body;
  const sessions = async ({ session_id }) => (await service.select("chat_sessions", `id=eq.${session_id}`)).body;
  const everything = async () => [
    (await service.select("chat_sessions", "order=id")).body,
    (await service.select("chat_messages", "order=session_id,id")).body,
  ];

  test("a first turn creates the session and writes both messages, the question first", async () => {
    const first = turn();
    await recorded(alice, first);
    const [session, ...others] = await sessions(first);
    assert.deepEqual(others, []);
    assert.deepEqual([session.user_id, session.title], [alice.id, "Refunds"]);
    const rows = await messages(first);
    assert.deepEqual(
      rows.map(({ id, role, content, citations }) => [id, role, content, citations]),
      [
        [first.question_id, "user", first.question, []],
        [first.answer_id, "assistant", first.answer, first.citations],
      ],
    );
    assert.ok(rows[0].created_at < rows[1].created_at);
    assert.equal(session.updated_at, rows[1].created_at);
  });

  test("the administrator's metrics come as numbers", async () => {
    await recorded(alice, turn({ latency_ms: 120 }));
    const [{ day, ...numbers }] = (await service.select("chat_metrics", "limit=1")).body;
    assert.match(day, /^\d{4}-\d{2}-\d{2}$/);
    for (const [name, value] of Object.entries(numbers)) assert.equal(typeof value, "number", name);
  });

  test("an answer is hedged only if the turn says so", async () => {
    const hedged = turn({ hedged: true });
    await recorded(alice, hedged);
    await recorded(alice, turn({ session_id: hedged.session_id, title: null, hedged: false }));
    await recorded(alice, turn({ session_id: hedged.session_id, title: null }));
    assert.deepEqual(
      (await messages(hedged)).map((message) => [message.role, message.hedged]),
      [
        ["user", false],
        ["assistant", true],
        ["user", false],
        ["assistant", false],
        ["user", false],
        ["assistant", false],
      ],
    );
  });

  test("a later turn goes on in the session and leaves its title", async () => {
    const first = turn();
    await recorded(alice, first);
    await recorded(alice, turn({ session_id: first.session_id, title: null }));
    await recorded(alice, turn({ session_id: first.session_id, title: "Another title" }));
    assert.deepEqual(
      (await messages(first)).map(({ role }) => role),
      ["user", "assistant", "user", "assistant", "user", "assistant"],
    );
    assert.equal((await sessions(first))[0].title, "Refunds");
  });

  test("a repetition changes nothing, whatever else it says", async () => {
    const first = turn();
    await recorded(alice, first);
    const before = await everything();
    await recorded(alice, first);
    await recorded(alice, { ...first, title: null, question: "Other?", answer: "Other.", citations: [] });
    assert.deepEqual(await everything(), before);
  });

  test("the same first turn many times at once leaves one session and one pair of messages", async () => {
    const first = turn();
    await Promise.all(Array.from({ length: 8 }, () => recorded(alice, first)));
    assert.equal((await sessions(first)).length, 1);
    assert.deepEqual(
      (await messages(first)).map(({ id }) => id),
      [first.question_id, first.answer_id],
    );
  });

  test("a question that was stored without its answer gets it", async () => {
    const half = turn();
    await alice.insert("chat_sessions", { id: half.session_id, title: half.title });
    await alice.insert("chat_messages", {
      session_id: half.session_id,
      id: half.question_id,
      role: "user",
      content: half.question,
    });
    await recorded(alice, { ...half, title: null });
    assert.deepEqual(
      (await messages(half)).map(({ id }) => id),
      [half.question_id, half.answer_id],
    );
  });

  test("a question that its user deleted does not come back behind its answer", async () => {
    const first = turn();
    await recorded(alice, first);
    await alice.remove("chat_messages", `session_id=eq.${first.session_id}&id=eq.${first.question_id}`);
    await recorded(alice, { ...first, title: null });
    assert.deepEqual(
      (await messages(first)).map(({ id }) => id),
      [first.answer_id],
    );
  });

  test("a session of somebody else and one that does not exist fail alike, and nothing is written", async () => {
    const foreign = turn();
    await recorded(alice, foreign);
    const deleted = turn();
    await recorded(bob, deleted);
    await bob.remove("chat_sessions", `id=eq.${deleted.session_id}`);
    const before = await everything();
    const answers = await Promise.all([
      record(bob, turn({ session_id: foreign.session_id, title: null })),
      record(bob, turn({ session_id: foreign.session_id })),
      record(bob, { ...foreign, title: null }),
      record(bob, foreign),
      record(bob, turn({ session_id: randomUUID(), title: null })),
      record(bob, turn({ session_id: deleted.session_id, title: null })),
    ]);
    for (const { status, body } of answers) {
      assert.equal(status, 403);
      assert.deepEqual(body, answers[0].body);
      assert.deepEqual([body.code, body.message], ["42501", "session not found"]);
    }
    assert.deepEqual(await everything(), before);
  });

  test("users may use the same message ids", async () => {
    const hers = turn();
    const his = turn({ question_id: hers.question_id, answer_id: hers.answer_id });
    await recorded(alice, hers);
    await recorded(bob, his);
    assert.equal((await messages(hers)).length, 2);
    assert.equal((await messages(his)).length, 2);
  });

  const broken = {
    "a blank question": { question: "  " },
    "no question": { question: null },
    "a blank answer": { answer: "\n" },
    "an answer that is too long": { answer: "a".repeat(100_001) },
    "citations that are no list": { citations: {} },
    "a refusal that is hedged": { refusal: "no_match", hedged: true },
    "neither yes nor no to a hedge": { hedged: null },
    "an empty title": { title: "" },
    "a title that is too long": { title: "a".repeat(201) },
    "no question id": { question_id: null },
    "no session id": { session_id: null },
    "one id for question and answer": (({ question_id }) => ({ answer_id: question_id }))(turn()),
  };
  for (const [title, changes] of Object.entries(broken)) {
    test(`with ${title} neither session nor message is written`, async () => {
      const before = await everything();
      const question_id = changes.answer_id ?? randomUUID();
      const { status } = await record(alice, turn({ question_id, ...changes }));
      assert.ok(status >= 400, String(status));
      assert.deepEqual(await everything(), before);
    });
  }

  test("the service role goes on in anybody's session, but has none of its own", async () => {
    const first = turn();
    await recorded(alice, first);
    await recorded(service, turn({ session_id: first.session_id, title: null }));
    assert.equal((await messages(first)).length, 4);
    assert.ok((await record(service, turn())).status >= 400);
  });

  test("anon may not call it", async () => {
    const { status, body } = await record(anon, turn());
    assert.equal(status, 401);
    assert.equal(body.code, "42501");
  });
}

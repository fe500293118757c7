import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { WORKER } from "../support/client.mjs";
import { QUERY } from "../support/knowledge-base.mjs";

const WORKER_SECRET_HASH = createHash("sha256").update(WORKER["x-evidence-chat-worker"]).digest("hex");

/** Question and answer are written together, once, and only into the caller's own sessions. */
export function recordTurn({ database, anon, alice, bob, visitor, service }) {
  after(async () => {
    await service.remove("chat_sessions", "id=not.is.null");
    await service.remove("chat_refusals", "id=not.is.null");
    await database.exec("delete from internal.usage");
  });

  const turn = (changes = {}) => ({
    session_id: randomUUID(),
    title: "Refunds",
    question_id: randomUUID(),
    question: "How do I get a refund?",
    answer_id: randomUUID(),
    answer: "Ask for it. [1]",
    citations: [{ index: 1, title: "refunds.md" }],
    sources: [],
    ...changes,
  });
  const record = (client, turn, headers) => client.directRpc("chat_record_turn", { turn }, headers);
  const recorded = async (client, turn, headers) => {
    const { status, body } = await record(client, turn, headers);
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

  test("an answer is extractive and whole unless the turn says that a model wrote it and had not finished", async () => {
    const generated = turn({ mode: "generated" });
    const next = { session_id: generated.session_id, title: null };
    await recorded(alice, generated);
    await recorded(alice, turn(next));
    await recorded(alice, turn({ ...next, mode: "generated", cut: true }));
    assert.deepEqual(
      (await messages(generated)).map((message) => [message.role, message.mode, message.cut]),
      [
        ["user", "extractive", false],
        ["assistant", "generated", false],
        ["user", "extractive", false],
        ["assistant", "extractive", false],
        ["user", "extractive", false],
        ["assistant", "generated", true],
      ],
    );
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

  test("what was searched and whether the question was too long are stored with the answer", async () => {
    const searched = "And to Norway? How long does delivery take?";
    const first = turn({ searched, truncated: true });
    await recorded(alice, first);
    await recorded(alice, turn({ session_id: first.session_id, title: null }));
    await recorded(
      alice,
      turn({
        session_id: first.session_id,
        title: null,
        refusal: "no_match",
        citations: [],
        searched,
        truncated: true,
      }),
    );
    const nothing = ["user", null, false];
    assert.deepEqual(
      (await messages(first)).map((message) => [message.role, message.searched, message.truncated]),
      [
        nothing,
        ["assistant", searched, true],
        nothing,
        ["assistant", null, false],
        nothing,
        ["assistant", searched, true],
      ],
    );
    assert.deepEqual((await bob.select("chat_messages", "searched=not.is.null")).body, []);
    await alice.remove("chat_sessions", `id=eq.${first.session_id}`);
    assert.deepEqual((await service.select("chat_messages", "searched=not.is.null")).body, []);
  });

  test("a later turn continues the session and keeps its title", async () => {
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

  test("a repetition changes nothing, even with other content", async () => {
    const first = turn();
    await recorded(alice, first);
    const before = await everything();
    await recorded(alice, first);
    await recorded(alice, { ...first, title: null, question: "Other?", answer: "Other.", citations: [] });
    assert.deepEqual(await everything(), before);
  });

  test("many simultaneous copies of a first turn leave one session and one pair of messages", async () => {
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
    await service.insert("chat_sessions", { id: half.session_id, title: half.title, user_id: alice.id });
    await service.insert("chat_messages", {
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

  test("a deleted question is not written again after its answer", async () => {
    const first = turn();
    await recorded(alice, first);
    await service.remove("chat_messages", `session_id=eq.${first.session_id}&id=eq.${first.question_id}`);
    await recorded(alice, { ...first, title: null });
    assert.deepEqual(
      (await messages(first)).map(({ id }) => id),
      [first.answer_id],
    );
  });

  test("another user's session and a missing one fail alike, and nothing is written", async () => {
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
      record(bob, deleted),
    ]);
    for (const { status, body } of answers) {
      assert.equal(status, 403);
      assert.deepEqual(body, answers[0].body);
      assert.deepEqual([body.code, body.message], ["42501", "session not found"]);
    }
    assert.deepEqual(await everything(), before);
  });

  test("different users may use the same message ids", async () => {
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
    "citations that are not a list": { citations: {} },
    "a refusal that is hedged": { refusal: "no_match", hedged: true },
    "hedged set to null": { hedged: null },
    "a refusal that a model wrote": { refusal: "no_match", mode: "generated" },
    "an unknown mode": { mode: "endpoint" },
    "mode set to null": { mode: null },
    "an answer of quotes that was cut": { cut: true },
    "cut set to null": { cut: null },
    "a blank text that was searched": { searched: " " },
    "a text that was searched and is too long": { searched: "a".repeat(4001) },
    "truncated set to null": { truncated: null },
    "an empty title": { title: "" },
    "a title that is too long": { title: "a".repeat(201) },
    "no question id": { question_id: null },
    "no session id": { session_id: null },
    "a field that the Worker does not send": { from_worker: true },
    "feedback of the user": { feedback_rating: "up", feedback_at: "2026-01-01" },
    "sources that are no list": { sources: "all" },
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

  test("a deleted session may be created again after a day", async () => {
    const first = turn();
    await recorded(alice, first);
    await alice.remove("chat_sessions", `id=eq.${first.session_id}`);
    await database.query(
      "update internal.chat_deleted_sessions set deleted_at = now() - interval '25 hours' where id = $1",
      [first.session_id],
    );
    await recorded(alice, first);
    assert.equal((await messages(first)).length, 2);
  });

  test("the documents behind an answer are stored whether it cites them or not", async () => {
    const [shown, hidden] = [randomUUID(), randomUUID()];
    const cited = turn({ citations: [{ document_id: shown }], sources: [hidden, shown, hidden] });
    const uncited = turn({ citations: [], sources: [hidden] });
    for (const each of [cited, uncited]) await recorded(alice, each);
    assert.deepEqual((await messages(cited))[1].sources, [shown, hidden].sort());
    assert.deepEqual((await messages(uncited))[1].sources, [hidden]);
    assert.deepEqual((await messages(uncited))[0].sources, []);
  });

  test("only messages written with the Worker's secret have from_worker and count in the statistics", async () => {
    const counted = async () => {
      const [{ questions }] = (await service.rpc("chat_insights", {})).body;
      return questions;
    };
    const before = await counted();
    const forged = [
      undefined,
      { "x-evidence-chat-worker": "" },
      { "x-evidence-chat-worker": "guessed" },
      { "x-evidence-chat-worker": WORKER_SECRET_HASH },
    ];
    for (const headers of forged) {
      const mine = turn();
      await recorded(alice, mine, headers);
      assert.deepEqual(
        (await messages(mine)).map(({ from_worker }) => from_worker),
        [false, false],
      );
    }
    assert.equal(await counted(), before);
    const real = turn();
    await recorded(alice, real, WORKER);
    assert.deepEqual(
      (await messages(real)).map(({ from_worker }) => from_worker),
      [true, true],
    );
    assert.equal(await counted(), before + 1);
  });

  test("the previous secret stays valid, and the one before it does not", async () => {
    const hashOf = (secret) => createHash("sha256").update(secret).digest("hex");
    const isVouched = async (secret) => {
      const mine = turn();
      await recorded(alice, mine, { "x-evidence-chat-worker": secret });
      return (await messages(mine))[1].from_worker;
    };
    for (const secret of ["first secret", "second secret", "third secret"]) {
      const { status } = await service.rpc("chat_set_worker_secret", { secret_hash: hashOf(secret) });
      assert.ok(status < 300);
    }
    assert.deepEqual(
      [await isVouched("first secret"), await isVouched("second secret"), await isVouched("third secret")],
      [false, true, true],
    );
    for (const wrong of [null, "", "abc", hashOf("x").toUpperCase(), `${hashOf("x")}0`]) {
      assert.equal((await service.rpc("chat_set_worker_secret", { secret_hash: wrong })).status, 400, String(wrong));
    }
    await service.rpc("chat_set_worker_secret", { secret_hash: WORKER_SECRET_HASH });
  });

  const MEBIBYTE = 1024 * 1024;
  const withoutUsage = () => database.exec("delete from internal.usage");
  const assertLimited = ({ status, body }) => {
    assert.deepEqual([status, body?.code], [429, "PT429"], JSON.stringify(body));
    assert.match(body.details, /^[1-9][0-9]*$/);
  };

  for (const headers of [WORKER, undefined]) {
    for (const [who, client, mebibytes] of /** @type {[string, any, number][]} */ ([
      ["a user with an account", alice, 32],
      ["an anonymous visitor", visitor, 4],
    ])) {
      test(`what ${who} stores in a day is limited to ${mebibytes} MiB, with${headers ? "" : "out"} the Worker`, async () => {
        await withoutUsage();
        const texts = {
          title: "ä".repeat(100),
          question: "ö".repeat(1000),
          answer: "x".repeat(3000),
          searched: "y".repeat(500),
        };
        const first = turn({ ...texts, sources: [randomUUID()] });
        await recorded(client, first, headers);
        const { rows } = await database.query(
          "select user_id, consumed::int as bytes from internal.usage where operation = 'storage'",
        );
        assert.deepEqual(rows, [{ user_id: client.id, bytes: rows[0].bytes }]);
        const bytes = 200 + 2000 + 3000 + 500 + JSON.stringify(first.citations).length + 16 + 2048;
        assert.ok(Math.abs(rows[0].bytes - bytes) <= 10, `${rows[0].bytes} is not ${bytes}`);
        const left = (free) =>
          database.query("update internal.usage set consumed = $1 where operation = 'storage'", [
            mebibytes * MEBIBYTE - free,
          ]);

        await left(rows[0].bytes);
        await recorded(client, turn({ ...texts, sources: [randomUUID()] }), headers);
        const before = await everything();
        assertLimited(await record(client, turn(), headers));
        await left(8000);
        const refused = {
          id: randomUUID(),
          session_id: null,
          question: "Hm?",
          embedding: QUERY,
          best_score: 0,
          reason: "no_match",
        };
        assertLimited(await client.directRpc("chat_record_refusal", refused, headers));
        const answer = { session_id: first.session_id, message_id: first.answer_id, rating: "down" };
        assertLimited(await client.directRpc("chat_give_feedback", { ...answer, embedding: QUERY }, headers));
        assertLimited(await client.directRpc("chat_give_feedback", { ...answer, comment: "Ä".repeat(3500) }, headers));
        assert.deepEqual(await everything(), before);
        await recorded(client, first, headers);
        await recorded(bob, turn(), headers);
        await database.query("update internal.usage set period_start = now() - interval '1 day'");
        await recorded(client, turn(), headers);
      });
    }
  }

  test("an anonymous visitor who is refused all day long lets the tables grow by less than 8 MiB", async () => {
    await withoutUsage();
    const size = async () => {
      const { rows } = await database.query(`
        select sum(pg_total_relation_size(c.oid))::int as bytes from pg_class c
          where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'internal'::regnamespace)`);
      return rows[0].bytes;
    };
    const random = (length, make) => Array.from({ length }, () => make(Math.random()));
    const before = await size();
    let turns = 0;
    for (let status = 200; status < 300; turns++) {
      // Texts and vectors that cannot be compressed.
      const question = random(4000, (x) => String.fromCharCode(0x4e00 + Math.floor(x * 20_000))).join("");
      const vector = random(384, (x) => x - 0.5);
      const embedding = JSON.stringify(vector.map((x) => x / Math.hypot(...vector)));
      const refused = turn({ question, answer: "I do not know.", citations: [], refusal: "no_match" });
      ({ status } = await record(visitor, refused, WORKER));
      if (status < 300) {
        const row = {
          id: refused.question_id,
          session_id: refused.session_id,
          question,
          embedding,
          reason: "no_match",
          best_score: 0,
        };
        ({ status } = await visitor.directRpc("chat_record_refusal", row, WORKER));
      }
      assert.ok(status < 300 || status === 429, String(status));
    }
    const grown = (await size()) - before;
    assert.ok(turns > 50 && grown < 8 * MEBIBYTE, `${turns} turns, ${grown} bytes`);
    await withoutUsage();
  });

  test("a user's turns do not reveal whether another user deleted a session id", async () => {
    const hers = turn();
    await recorded(alice, hers);
    await alice.remove("chat_sessions", `id=eq.${hers.session_id}`);
    const { status, body } = await record(bob, turn({ session_id: hers.session_id }));
    assert.deepEqual([status, body.message], [403, "session not found"]);
  });

  test("neither anon nor the service role may call chat_record_turn", async () => {
    for (const [client, status] of [
      [anon, 401],
      [service, 403],
    ]) {
      const answer = await record(client, turn());
      assert.deepEqual([answer.status, answer.body.code], [status, "42501"]);
    }
  });
}

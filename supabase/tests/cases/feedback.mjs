import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { WORKER } from "../support/client.mjs";
import { embeddingWithSimilarity, QUERY } from "../support/knowledge-base.mjs";

/** What users think of answers: once for each, changeable, of their own answers only, and among the gaps if they dislike one. */
export function feedback({ database, anon, alice, bob, service }) {
  let session_id;

  before(() => service.update("chat_settings", "id=is.true", { gap_users: 1 }));
  afterEach(async () => {
    await service.remove("chat_sessions", "id=not.is.null");
    await service.update("chat_settings", "id=is.true", { keep_refusals: "full" });
    await database.exec("delete from internal.usage");
  });
  after(() => service.update("chat_settings", "id=is.true", { gap_users: 2 }));

  /** Records a turn of the user in a new or the given session, and returns the id of the answer. */
  async function turn(
    client,
    /** @type {{ question?: string, questionId?: string, session?: string, refusal?: string | null, searched?: string,
     *   headers?: Record<string, string> }} */ {
      question = "Do you sell bicycles?",
      questionId = randomUUID(),
      session = randomUUID(),
      refusal = null,
      searched,
      headers = WORKER,
    } = {},
  ) {
    session_id = session;
    const answer_id = randomUUID();
    const turn = {
      session_id,
      title: "Bicycles",
      question_id: questionId,
      question,
      answer_id,
      answer: "Yes, two kinds. [1]",
      citations: [],
      sources: [],
      refusal,
      ...(searched && { searched }),
    };
    const { status, body } = await client.directRpc("chat_record_turn", { turn }, headers);
    assert.ok(status < 300, JSON.stringify(body));
    return answer_id;
  }

  const give = (client, message_id, values = {}, /** @type {Record<string, string>} */ headers = WORKER) =>
    client.directRpc("chat_give_feedback", { session_id, message_id, ...values }, headers);
  const given = async (client, message_id, values = {}) => {
    const { status, body } = await give(client, message_id, values);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const columns = "feedback_rating,feedback_reason,feedback_comment";
  const stored = async (client, id) => (await client.select("chat_messages", `select=${columns}&id=eq.${id}`)).body[0];
  const NOTHING = { feedback_rating: null, feedback_reason: null, feedback_comment: null };
  const gaps = async () => (await service.rpc("chat_insights_gaps", {})).body;
  const refusals = async () => (await service.select("chat_refusals")).body;

  test("feedback replaces what was said before, and can be taken back", async () => {
    const id = await turn(alice);
    assert.deepEqual(await stored(alice, id), NOTHING);
    assert.equal(await given(alice, id, { rating: "up", comment: "Just what I wanted." }), true);
    assert.deepEqual(await stored(alice, id), {
      feedback_rating: "up",
      feedback_reason: null,
      feedback_comment: "Just what I wanted.",
    });
    await given(alice, id, { rating: "down", reason: "outdated" });
    assert.deepEqual(await stored(alice, id), {
      feedback_rating: "down",
      feedback_reason: "outdated",
      feedback_comment: null,
    });
    await given(alice, id);
    assert.deepEqual(await stored(alice, id), NOTHING);
  });

  test("nobody gives feedback to answers of others, to questions or to refusals, or learns that they exist", async () => {
    const id = await turn(alice);
    assert.equal(await given(bob, id, { rating: "down" }), false);
    assert.equal(await given(bob, randomUUID(), { rating: "down" }), false);
    const [{ id: question }] = (await alice.select("chat_messages", "role=eq.user&select=id")).body;
    assert.equal(await given(alice, question, { rating: "up" }), false);
    assert.equal(await given(alice, await turn(alice, { refusal: "no_match" }), { rating: "up" }), false);
    assert.ok((await give(anon, id, { rating: "up" })).status >= 400);
    assert.ok((await service.directRpc("chat_give_feedback", { session_id, message_id: id })).status >= 400);
    assert.deepEqual(await stored(service, id), NOTHING);
  });

  test("users cannot write the columns themselves", async () => {
    const id = await turn(alice);
    assert.equal((await alice.update("chat_messages", `id=eq.${id}`, { feedback_rating: "up" })).status, 403);
    assert.deepEqual(await stored(alice, id), NOTHING);
  });

  test("values that are not possible change nothing", async () => {
    const id = await turn(alice);
    await given(alice, id, { rating: "up", comment: "ü".repeat(1000) });
    const before = await stored(alice, id);
    for (const [values, constraint] of /** @type {[object, RegExp][]} */ ([
      [{ rating: "maybe" }, /chat_messages_feedback_rating_valid/],
      [{ rating: "down", reason: "boring" }, /chat_messages_feedback_reason_valid/],
      [{ rating: "up", reason: "wrong" }, /chat_messages_feedback_reason_only_on_down/],
      [{ rating: "down", comment: " \n" }, /chat_messages_feedback_comment_not_blank/],
      [{ rating: "down", comment: "ü".repeat(1001) }, /chat_messages_feedback_comment_length/],
      [{ comment: "without feedback" }, /chat_messages_feedback_is_whole/],
      [{ reason: "wrong" }, /chat_messages_feedback_reason_only_on_down/],
      [
        { rating: "down", embedding: embeddingWithSimilarity(1).replace("[", "[9") },
        /chat_refusals_embedding_is_unit_length/,
      ],
    ])) {
      const { status, body } = await give(alice, id, values);
      assert.ok(status >= 400 && constraint.test(body.message), JSON.stringify([status, body]));
    }
    assert.deepEqual(await stored(alice, id), before);
    assert.deepEqual(await refusals(), []);
  });

  test("a disliked answer counts among the gaps until its user changes their mind", async () => {
    await turn(alice, { question: "Where is the shop?" });
    const id = await turn(alice, { session: session_id });
    await given(alice, id, { rating: "down", embedding: QUERY });
    const [gap, ...others] = await gaps();
    assert.deepEqual(others, []);
    assert.deepEqual([gap.examples, gap.reasons, gap.users], [["Do you sell bicycles?"], ["disliked"], 1]);
    await given(alice, id, { rating: "down", reason: "wrong", embedding: QUERY });
    assert.equal((await refusals()).length, 1, "counted once");
    await given(alice, id, { rating: "up", embedding: QUERY });
    assert.deepEqual(await refusals(), []);
    await given(alice, id, { rating: "down" });
    assert.deepEqual(await refusals(), [], "without the vector of the question it has no group");
  });

  test("a disliked answer to a follow-up counts and is shown with the question before it", async () => {
    await turn(alice);
    const searched = "And for children? Do you sell bicycles?";
    const id = await turn(alice, { session: session_id, question: "And for children?", searched });
    await given(alice, id, { rating: "down", comment: "Which sizes?", embedding: QUERY });
    assert.deepEqual(
      (await gaps()).map(({ examples }) => examples),
      [[searched]],
    );
    const [{ question }] = (await service.select("chat_feedback", `message_id=eq.${id}`)).body;
    assert.equal(question, searched);
    await given(alice, id, { rating: "up", embedding: QUERY });
    assert.deepEqual(await refusals(), []);
    await given(alice, id);
  });

  test("text that was recorded without the Worker is among no gaps, even if the Worker brings the feedback", async () => {
    const forged = "Call +1 900 123";
    const disliked = { rating: "down", comment: "Wrong", embedding: QUERY };
    for (const texts of [{ question: forged }, { searched: forged }]) {
      await given(alice, await turn(alice, { ...texts, headers: {} }), disliked);
      assert.deepEqual(
        (await refusals()).map(({ question, from_worker }) => [question, from_worker]),
        [[forged, false]],
      );
      await service.remove("chat_refusals", "id=not.is.null");
    }

    const questionId = randomUUID();
    await turn(alice, { question: forged, questionId, headers: {} });
    // The question is stored already, with the forged text.
    const id = await turn(alice, { session: session_id, questionId });
    await given(alice, id, disliked);
    assert.deepEqual(await refusals(), []);
    const [{ question }] = (await service.select("chat_feedback", `message_id=eq.${id}`)).body;
    assert.equal(question, null);
    const { body: comments } = await service.rpc("chat_insights_comments", {});
    assert.deepEqual(
      comments.map((row) => row.question),
      [null],
    );
  });

  test("a disliked answer is in the group of the refused questions like it", async () => {
    const id = await turn(alice);
    await given(alice, id, { rating: "down", embedding: QUERY });
    const { status } = await bob.rpc("chat_record_refusal", {
      id: randomUUID(),
      session_id: null,
      question: "Are there bicycles?",
      embedding: embeddingWithSimilarity(0.95),
      best_score: 0.2,
      reason: "no_match",
    });
    assert.ok(status < 300);
    const [gap] = await gaps();
    assert.deepEqual([gap.questions, gap.users, gap.reasons], [2, 2, ["disliked", "no_match"]]);
    await service.remove("chat_refusals", "id=not.is.null");
  });

  test("keep_refusals applies to disliked answers, too", async () => {
    await service.update("chat_settings", "id=is.true", { keep_refusals: "off" });
    const id = await turn(alice);
    await given(alice, id, { rating: "down", embedding: QUERY });
    assert.deepEqual(await refusals(), []);
    await service.update("chat_settings", "id=is.true", { keep_refusals: "anonymous" });
    await given(alice, id, { rating: "down", embedding: QUERY });
    const [{ user_id, session_id: session, reason }] = await refusals();
    assert.deepEqual([user_id, session, reason], [null, null, "disliked"]);
    await service.remove("chat_refusals", "id=not.is.null");
  });

  test("the administrator sees question, answer and words", async () => {
    const id = await turn(alice);
    await given(alice, id, { rating: "down", reason: "incomplete", comment: "Which kinds?" });
    await given(bob, await turn(bob), { rating: "up" });
    const rows = (await service.select("chat_feedback", "rating=eq.down")).body;
    assert.equal(rows.length, 1);
    const { feedback_at, ...row } = rows[0];
    assert.ok(Date.now() - Date.parse(feedback_at) < 60_000);
    assert.deepEqual(row, {
      assistant: "default",
      rating: "down",
      reason: "incomplete",
      comment: "Which kinds?",
      question: "Do you sell bicycles?",
      answer: "Yes, two kinds. [1]",
      session_id: (await service.select("chat_messages", `id=eq.${id}`)).body[0].session_id,
      message_id: id,
    });
  });

  test("feedback disappears with the conversation", async () => {
    const id = await turn(alice);
    await given(alice, id, { rating: "down", comment: "Which kinds?", embedding: QUERY });
    await alice.rpc("chat_delete_user_data", {});
    assert.equal(await stored(service, id), undefined);
    assert.deepEqual([await refusals(), (await service.select("chat_feedback")).body], [[], []]);
  });
}

// The daily budgets of tokens, per user and for the whole site, with a movable clock and a scripted model.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startScriptedModel } from "../../tests/generation/support/scripted-model.mjs";
import { send } from "./support/client.mjs";
import { DAY, MINUTE, START, startClockWorker, tokenOf } from "./support/clock.mjs";
import { passage, startUpstream } from "./support/upstream.mjs";

const QUESTIONS = 40;
const FIT = 5;
/** @import { Step } from "../../tests/generation/support/scenarios.mjs" */

/** @type {Step} */
const STEP = { scenario: "ok", deltas: ["Refunds are paid ", "within 5 days. [1]"] };
const MAX_TOKENS = 200;

let upstream;
let model;
/** The tokens of one question: what is reserved, and what the model's server counts. */
let cost;

before(async () => {
  upstream = await startUpstream();
  upstream.settings.answer_mode = "endpoint";
  upstream.defaults["rpc/match_chunks"] = () => ({ body: [passage()] });
  model = await startScriptedModel(STEP);
  await withBudgets({}, async (worker) => {
    const { generation } = (await worker.ask(crypto.randomUUID())).events.at(-1);
    const [{ json }] = model.requests;
    const bytes = json.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    cost = {
      reserved: Math.ceil(bytes / 3) + MAX_TOKENS,
      used: generation.prompt_tokens + generation.completion_tokens,
    };
  });
});

after(async () => {
  upstream?.close();
  await model?.close();
});

/** Runs a Worker with these budgets at `START`. */
async function withBudgets({ user = 1e9, site = 1e9 }, use) {
  const worker = await startClockWorker(upstream, {
    CHAT_LLM_URL: model.url,
    CHAT_LLM_MODEL: "scripted-model",
    CHAT_LLM_MAX_TOKENS: String(MAX_TOKENS),
    CHAT_LLM_DAILY_TOKENS_USER: String(user),
    CHAT_LLM_DAILY_TOKENS_SITE: String(site),
    CHAT_RATE_LIMIT: "1000",
    // 40 questions at once are a lot for a busy machine.
    CHAT_UPSTREAM_TIMEOUT_MS: "15000",
    CHAT_LLM_FIRST_TOKEN_MS: "30000",
    CHAT_LLM_TIMEOUT_MS: "60000",
  });
  try {
    await use(worker);
  } finally {
    await worker.close();
  }
}

const usedOf = async (worker, name) => (await worker.gateOf(name)).rows.tokens.map(({ used }) => used);
const fallbackOf = ({ events }) => events.at(-1).generation.fallback;
const wordsOf = ({ events }) => events.filter(({ type }) => type === "answer_delta").length;

/**
 * Asks all questions at once and asserts that exactly those within the budget were written. The model writes nothing before all
 * others were refused, so that none of them finds tokens that a written answer gave back.
 */
async function assertExact(worker, userOf) {
  const earlier = model.requests.length;
  /** @type {PromiseWithResolvers<void>} */
  const { promise: held, resolve: release } = Promise.withResolvers();
  model.play({ ...STEP, held });
  let refused = 0;
  const ask = async (_, at) => {
    const reply = await worker.ask(userOf(at));
    if (fallbackOf(reply) === "budget" && ++refused === QUESTIONS - FIT) release();
    return reply;
  };
  const replies = await Promise.all(Array.from({ length: QUESTIONS }, ask));
  for (const reply of replies) assert.deepEqual([reply.status, wordsOf(reply) > 0], [200, true]);
  const fallbacks = replies.map(fallbackOf).filter(Boolean);
  assert.deepEqual(fallbacks, Array(QUESTIONS - FIT).fill("budget"));
  assert.equal(model.requests.length - earlier, FIT);
}

test("the budget of a user is exact, settled after use, survives an erasure, and is new the next day", async () => {
  const limit = Math.floor((FIT + 0.5) * cost.reserved);
  await withBudgets({ user: limit }, async (worker) => {
    const user = crypto.randomUUID();
    await assertExact(worker, () => user);
    assert.deepEqual(await usedOf(worker, user), [FIT * cost.used]);
    assert.deepEqual(await usedOf(worker, "site"), [FIT * cost.used], "the site gets back what the user could not use");

    // What was not used is there for further questions.
    let more = 0;
    while (fallbackOf(await worker.ask(user)) === undefined) more += 1;
    const used = (FIT + more) * cost.used;
    assert.deepEqual(await usedOf(worker, user), [used]);
    assert.ok(used + cost.reserved > limit && used + cost.reserved - cost.used <= limit, `${used} of ${limit}`);
    assert.equal(fallbackOf(await worker.ask(crypto.randomUUID())), undefined, "others have their own");

    await send(worker.url, "/api/me", { method: "DELETE", token: tokenOf(user) });
    assert.equal(fallbackOf(await worker.ask(user)), "budget");
    await worker.setTime(START + DAY - 1);
    assert.equal(fallbackOf(await worker.ask(user)), "budget");
    await worker.setTime(START + DAY);
    assert.equal(fallbackOf(await worker.ask(user)), undefined);
    assert.deepEqual(await usedOf(worker, user), [used, cost.used]);
    await worker.setTime(START + DAY + MINUTE);
    assert.equal(fallbackOf(await worker.ask(user)), undefined);
    assert.deepEqual(await usedOf(worker, user), [2 * cost.used], "the clean-up has deleted yesterday's row");
  });
});

test("the budget of the site is exact", async () => {
  await withBudgets({ site: Math.floor((FIT + 0.5) * cost.reserved) }, async (worker) => {
    const users = Array.from({ length: QUESTIONS }, () => crypto.randomUUID());
    await assertExact(worker, (at) => users[at]);
    assert.deepEqual(await usedOf(worker, "site"), [FIT * cost.used]);
    const used = await Promise.all(users.map((user) => usedOf(worker, user)));
    assert.equal(
      used.flat().reduce((sum, tokens) => sum + tokens, 0),
      FIT * cost.used,
    );
  });
});

test("a question that the model's server rejects uses no tokens, and one that is cut off uses its prompt", async () => {
  await withBudgets({}, async (worker) => {
    for (const [step, least, most] of [
      ["server-error", 0, 0],
      [{ ...STEP, scenario: "cut", after: 1 }, cost.reserved - MAX_TOKENS, cost.reserved],
    ]) {
      model.play(step);
      const user = crypto.randomUUID();
      assert.equal(fallbackOf(await worker.ask(user)), "error");
      const [used] = await usedOf(worker, user);
      assert.ok(used >= least && used <= most, `${used} is not from ${least} to ${most}`);
    }
    model.play(STEP);
  });
});

test("a budget of zero writes nothing", async () => {
  await withBudgets({ site: 0 }, async (worker) => {
    const earlier = model.requests.length;
    assert.equal(fallbackOf(await worker.ask(crypto.randomUUID())), "budget");
    assert.equal(model.requests.length, earlier);
  });
});

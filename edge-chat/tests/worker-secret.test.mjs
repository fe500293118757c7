// What the Worker and the database exchange in addition to user data: the Worker's secret, the sources of an answer and the
// rate limits of the database.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, eventually, question, send } from "./support/client.mjs";
import { DOCUMENT_ID, NOBODY, passage, sentence, startUpstream, weakPassage } from "./support/upstream.mjs";
import { closePair, startTestWorker, withSettings, withWorker, WORKER_SECRET } from "./support/worker.mjs";

const HEADER = "x-evidence-chat-worker";
/** The calls with the secret. */
const TRUSTED_CALLS = ["rpc/match_chunks", "rpc/chat_record_turn", "rpc/chat_record_refusal"];

let upstream;
let worker;

before(async () => {
  upstream = await startUpstream();
  upstream.settings.link_mode = "public";
  worker = await startTestWorker(upstream);
});

after(() => closePair({ upstream, worker }));

/** A new user whose searches find these rows. */
function userWho(finds, behaviour = {}) {
  const user = crypto.randomUUID();
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: finds }), ...behaviour });
  return user;
}

/** Makes every call that a user can cause. */
async function useEverything({ url }) {
  const user = userWho([passage()]);
  const { events } = await ask(url, user);
  const session = events[0].session_id;
  await ask(url, user, question({ session_id: session }));
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: [weakPassage()] }) });
  await ask(url, user);
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: [] }) });
  await ask(url, user);
  await eventually(() => upstream.callsOf(user, "rpc/chat_record_refusal").length === 2);
  const paths = [
    "sessions",
    `sessions/${session}`,
    `sessions/${session}/messages`,
    `documents/${DOCUMENT_ID}/download`,
  ];
  for (const path of paths) assert.equal((await send(url, `/api/${path}`, { user })).status, 200, path);
  await send(url, `/api/sessions/${session}`, { method: "PATCH", user, body: { title: "Mine" } });
  await send(url, `/api/sessions/${session}`, { method: "DELETE", user });
  return user;
}

describe("the Worker's secret", () => {
  test("only the search and the writes of a question have the secret", async () => {
    const user = await useEverything(worker);
    const calls = [...upstream.callsOf(user), ...upstream.callsOf(NOBODY)];
    const resources = new Set(calls.map(({ resource }) => resource));
    for (const resource of [...TRUSTED_CALLS, "rpc/chat_has_documents", "rpc/chat_documents", "rpc/chat_config"]) {
      assert.ok(resources.has(resource), resource);
    }
    for (const resource of ["chat_sessions", "chat_messages", "storage/sign", "storage/object"]) {
      assert.ok(resources.has(resource), resource);
    }
    for (const { resource, headers } of calls) {
      assert.equal(headers[HEADER], TRUSTED_CALLS.includes(resource) ? WORKER_SECRET : undefined, resource);
    }
  });

  test("the secret is in no response and in no log line", async () => {
    const user = userWho([weakPassage()], { "rpc/chat_record_refusal": () => ({ status: 500 }) });
    const reply = await ask(worker.url, user);
    await worker.lineOf(reply);
    assert.ok(![reply.text, ...reply.headers.values(), ...worker.log].some((text) => text.includes(WORKER_SECRET)));
  });

  test("without a secret everything works and /api/ready warns", async () => {
    await withWorker(upstream, { CHAT_WORKER_SECRET: "" }, async (without) => {
      const user = await useEverything(without);
      assert.ok(upstream.callsOf(user).every(({ headers }) => !(HEADER in headers)));
      const { status, json } = await send(without.url, "/api/ready");
      assert.deepEqual([status, json.status], [200, "ready"]);
      assert.deepEqual(json.warnings, ["CHAT_WORKER_SECRET is not set: questions are not counted in the insights"]);
    });
    assert.deepEqual((await send(worker.url, "/api/ready")).json, { status: "ready" });
  });

  for (const [name, secret] of Object.entries({
    "too short": "secret-value-of-31-characters-x",
    "too long": "secret-value".padEnd(201, "x"),
    "not visible ASCII": "secret-value with spaces in it, which no header holds",
  })) {
    test(`a secret that is ${name} is a configuration error`, async () => {
      await withWorker(upstream, { CHAT_WORKER_SECRET: secret }, async (wrong) => {
        const reply = await send(wrong.url, "/api/ready");
        assertError(reply, 500, "internal");
        const { detail } = await wrong.lineOf(reply);
        assert.equal(detail, "configuration: CHAT_WORKER_SECRET must be 32 to 200 visible ASCII characters");
        assert.ok(!wrong.log.some((line) => line.includes("secret-value")));
      });
    });
  }
});

describe("sources of an answer", () => {
  const OTHER = "d0000000-0000-4000-8000-000000000002";
  const FOUND = "d0000000-0000-4000-8000-000000000003";
  const days = "Refunds are paid within 5 days.";
  const fees = "Refunds are paid without fees.";
  const rowOf = (content, fields) => passage({ content, sentences: [sentence(content, content, 0.8)], ...fields });
  const rows = [
    rowOf(days),
    rowOf(fees, { document_id: OTHER, similarity: 0.79, score: 0.76 }),
    weakPassage({ document_id: FOUND, meta: { section: "Elsewhere" } }),
  ];
  const turnOf = (user) => upstream.callsOf(user, "rpc/chat_record_turn")[0].body.turn;

  test("the sources are the documents of the text and not those of also_found", async () => {
    const user = userWho(rows);
    const { events } = await ask(worker.url, user);
    const { citations, also_found: found } = events.find(({ type }) => type === "sources");
    const cited = new Set(citations.map(({ document_id: id }) => id));
    assert.deepEqual([...cited].sort(), [DOCUMENT_ID, OTHER]);
    assert.deepEqual(
      found.map(({ document_id: id }) => id),
      [FOUND],
    );
    assert.deepEqual(turnOf(user).sources, [DOCUMENT_ID, OTHER]);
  });

  for (const accept of ["text/event-stream", "application/json"]) {
    test(`sources are stored but not sent if the client wants no citations (${accept})`, async () => {
      const user = userWho(rows);
      const sent = question({ include_citations: false });
      const options = { headers: { accept } };
      const reply = await ask(worker.url, user, sent, options);
      assert.deepEqual(turnOf(user).citations, []);
      assert.deepEqual(turnOf(user).sources, [DOCUMENT_ID, OTHER]);
      const repeat = await ask(worker.url, user, sent, options);
      assert.equal(repeat.text, reply.text);
      for (const id of [DOCUMENT_ID, OTHER, FOUND]) assert.ok(!reply.text.includes(id));
      assert.equal(upstream.callsOf(user, "rpc/chat_record_turn").length, 1);
    });
  }

  test("sources are stored even if the site has disabled citations", async () => {
    await withSettings(upstream, { citations: false }, async ({ url }) => {
      const user = userWho(rows);
      await ask(url, user);
      assert.deepEqual([turnOf(user).citations, turnOf(user).sources], [[], [DOCUMENT_ID, OTHER]]);
    });
  });

  test("a repeat of a lost run writes the same sources", async () => {
    const reset = { "rpc/chat_record_turn": () => ({ reset: true }) };
    const user = userWho(rows, reset);
    const sent = question({ include_citations: false });
    await ask(worker.url, user, sent);
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: rows }) });
    await withWorker(upstream, {}, ({ url }) => ask(url, user, sent));
    const sources = upstream.callsOf(user, "rpc/chat_record_turn").map(({ body }) => body.turn.sources);
    assert.ok(sources.length > 1);
    for (const each of sources) assert.deepEqual(each, [DOCUMENT_ID, OTHER]);
  });

  test("a refusal has no sources", async () => {
    const user = userWho([weakPassage()]);
    const [refusal] = (await ask(worker.url, user)).events;
    assert.equal(refusal.nearest.length, 1);
    assert.deepEqual(turnOf(user).sources, []);
  });
});

describe("rate limit of the database", () => {
  const limit = (details) => ({
    status: 429,
    body: { code: "PT429", message: "too many searches", details, hint: null },
  });
  const limited = (details) => ({ "rpc/match_chunks": () => limit(details) });

  for (const [details, seconds] of [
    ["17", "17"],
    ["0", "1"],
    ["86400", "60"],
    ["soon", "60"],
    [null, "60"],
  ]) {
    test(`a rate limit of the database becomes 429 without a retry (${details} seconds)`, async () => {
      const user = userWho([], limited(details));
      const reply = await ask(worker.url, user);
      assertError(reply, 429, "rate_limited");
      assert.equal(reply.headers.get("retry-after"), seconds);
      assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
      assert.ok(!reply.text.includes("too many searches"));
      const { detail } = await worker.lineOf(reply);
      assert.equal(detail, "match_chunks: rate limit of the database");
    });
  }

  test("a question that hit a rate limit of the database can be asked again with its id", async () => {
    const user = userWho([], limited("1"));
    const sent = question();
    assertError(await ask(worker.url, user, sent), 429, "rate_limited");
    upstream.behave(user, {});
    assert.equal((await ask(worker.url, user, sent)).events.at(-1).type, "answer_end");
  });

  test("rate limits of the database do not open the circuit", async () => {
    await withWorker(upstream, {}, async ({ url }) => {
      for (let round = 0; round < 12; round++) {
        assertError(await ask(url, userWho([], limited("5"))), 429, "rate_limited");
      }
      assert.equal((await ask(url, crypto.randomUUID())).status, 200);
    });
  });

  test("a 429 of a gateway counts as an outage and is retried", async () => {
    const user = userWho([], { "rpc/match_chunks": () => ({ status: 429, body: { code: "other", details: "5" } }) });
    assertError(await ask(worker.url, user), 503, "upstream_unavailable");
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 2);
  });

  test("a rate limit on turns costs the history and not the answer", async () => {
    const user = userWho([passage()], { "rpc/chat_record_turn": () => limit("30") });
    const reply = await ask(worker.url, user);
    const { events } = reply;
    assert.equal(events[1].text, "Refunds are paid within 5 days. [1]");
    assert.deepEqual([events.at(-1).type, events.at(-1).persisted], ["answer_end", false]);
    assert.equal(upstream.callsOf(user, "rpc/chat_record_turn").length, 1);
    const { faults } = await worker.lineOf(reply);
    assert.deepEqual(faults, ["history not written: chat_record_turn: rate limit of the database"]);
  });
});

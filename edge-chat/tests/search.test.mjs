// Search while a question is typed: its results, who sees what, and its limit, which questions do not share.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, eventually, exceed, question, search, searchBody, send } from "./support/client.mjs";
import { MINUTE, SECOND, START, startClockWorker, tokenOf } from "./support/clock.mjs";
import { accessToken } from "./support/tokens.mjs";
import {
  DEFAULT_SETTINGS,
  passage,
  sentence,
  startUpstream,
  unknownAssistant,
  weakPassage,
} from "./support/upstream.mjs";
import { closePair, ORIGIN, startPair, startTestWorker, withWorker } from "./support/worker.mjs";

let upstream, worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const rateLimit = ({ headers }) =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers.get(name));
const statuses = (replies) => replies.map(({ status }) => status);
const finding = (...rows) => {
  const user = newUser();
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: rows }) });
  return user;
};

describe("results", () => {
  test("a result has the fields of a citation and the best sentence with its offsets", async () => {
    const row = passage({ document_meta: { title: "Refunds", url: "https://page.test/refunds" } });
    const { status, json } = await search(worker.url, finding(row));
    assert.equal(status, 200);
    const [{ quotes, ...result }] = json.results;
    assert.deepEqual(result, {
      chunk_id: row.chunk_id,
      document_id: row.document_id,
      title: "Refunds",
      section: "Refunds",
      url: "https://page.test/refunds",
      score: 0.8,
      excerpt: row.content,
    });
    const text = "Refunds are paid within 5 days.";
    assert.deepEqual(quotes, [{ start: 0, end: 31, text, kind: "sentence", pieces: [{ text }] }]);
    assert.equal(row.content.slice(0, 31), text);
  });

  test("a search costs one call to the database and writes nothing", async () => {
    const user = newUser();
    await search(worker.url, user);
    await search(worker.url, user, searchBody({ query: "  When are refunds paid?  ", limit: 3 }));
    const calls = upstream.callsOf(user);
    assert.deepEqual(
      calls.map(({ resource, body }) => [resource, body.query_text, body.match_count, body.assistant]),
      [
        ["rpc/match_chunks", "When are refunds pa", 10, "default"],
        ["rpc/match_chunks", "When are refunds paid?", 6, "default"],
      ],
    );
    assert.deepEqual(upstream.history.sessionsOf(user), []);
  });

  test("passages of a low similarity are left out, and their confidence does not matter", async () => {
    const near = weakPassage({ meta: { section: "Our shop" } });
    const content = "We like trees.";
    const far = passage({
      content,
      similarity: 0.29,
      score: 0.1,
      sentences: [sentence(content, content, 0.29)],
    });
    const { json } = await search(worker.url, finding(near, far));
    assert.deepEqual(
      json.results.map(({ chunk_id }) => chunk_id),
      [near.chunk_id],
    );
    assert.deepEqual((await search(worker.url, finding(far))).json, { results: [] });
    assert.deepEqual((await search(worker.url, finding())).json, { results: [] });
  });

  test("a section has one result, and there are no more results than the limit", async () => {
    const rows = ["Fees", "Fees", "Time", "Cards"].map((section, at) =>
      passage({ meta: { section }, score: 0.9 - at / 10 }),
    );
    const ids = async (limit) => {
      const { json } = await search(worker.url, finding(...rows), searchBody({ limit }));
      return json.results.map(({ chunk_id }) => chunk_id);
    };
    assert.deepEqual(await ids(10), [rows[0].chunk_id, rows[2].chunk_id, rows[3].chunk_id]);
    assert.deepEqual(await ids(2), [rows[0].chunk_id, rows[2].chunk_id]);
  });

  test("addresses that are not web addresses are left out", async () => {
    const hostile = passage({ document_meta: { title: "<img src=x>", url: "javascript:alert(1)" } });
    const [result] = (await search(worker.url, finding(hostile))).json.results;
    assert.equal(result.url, undefined);
    assert.equal(result.title, "<img src=x>", "texts are data, which clients show as text");
  });

  test("vectors of another model are a 409, not a wrong search", async () => {
    assertError(await search(worker.url, finding(passage({ model: "other" }))), 409, "model_mismatch");
  });

  test("the text is neither in the log nor in the log line of a site that logs questions", async () => {
    const open = await startUpstream();
    open.settings.log_questions = true;
    await withWorker(open, {}, async (site) => {
      const reply = await search(site.url, newUser(), searchBody({ query: "my secret illness" }));
      const line = await site.lineOf(reply);
      assert.deepEqual([line.route, line.outcome, line.question], ["/api/search", "results", undefined]);
      assert.ok(!site.log.join("\n").includes("secret"), site.log.join("\n"));
    });
    open.close();
  });
});

describe("requests that are rejected", () => {
  const cases = {
    "no query": { query: undefined },
    "an empty query": { query: " \n" },
    "a query of another type": { query: ["refunds"] },
    "a query that is too long": { query: "x".repeat(4001) },
    "a query with U+0000": { query: "a\0b" },
    "no vector": { embedding: undefined },
    "a short vector": { embedding: [1] },
    "a vector of length 2": { embedding: searchBody().embedding.map((number) => 2 * number) },
    "no model": { model: undefined },
    "a limit of 0": { limit: 0 },
    "a limit of 11": { limit: 11 },
    "a fraction as limit": { limit: 2.5 },
    "a text as limit": { limit: "5" },
    "a wrong name of an assistant": { assistant: "Shop" },
  };
  for (const [name, changes] of Object.entries(cases)) {
    test(`${name} is a 400 before anything is asked`, async () => {
      const user = newUser();
      const reply = await search(worker.url, user, searchBody(changes));
      assertError(reply, 400, "invalid_request");
      assert.deepEqual([upstream.callsOf(user).length, ...rateLimit(reply)], [0, null, null, null]);
    });
  }

  test("a search needs a valid token, a JSON body and POST", async () => {
    const user = newUser();
    assertError(await search(worker.url, undefined), 401, "unauthorized");
    assertError(await search(worker.url, user, searchBody(), { token: "x" }), 401, "unauthorized");
    const plain = { headers: { "content-type": "text/plain" } };
    assertError(await search(worker.url, user, searchBody(), plain), 415, "unsupported_media_type");
    assertError(await search(worker.url, user, searchBody({ padding: "x".repeat(70_000) })), 413, "payload_too_large");
    assertError(await send(worker.url, "/api/search", { user }), 405, "invalid_request");
    assert.equal(upstream.callsOf(user).length, 0);
  });

  test("a limit of 0 turns searches off", async () => {
    await withWorker(upstream, { CHAT_SEARCH_RATE_LIMIT: "0" }, async ({ url }) => {
      const user = newUser();
      const reply = await search(url, user);
      assertError(reply, 403, "forbidden");
      assert.match(reply.json.message, /turned off/);
      assert.deepEqual(rateLimit(reply), ["0", "0", "0"]);
      assert.equal((await ask(url, user)).status, 200);
      assert.deepEqual(
        upstream.callsOf(user, "rpc/match_chunks").map(({ body }) => body.query_text),
        [question().message],
      );
    });
  });
});

describe("assistants", () => {
  let site, siteWorker;
  const member = newUser();
  const ASSISTANTS = { shop: { origins: [ORIGIN] }, staff: { users: [member], origins: null } };

  before(async () => {
    site = await startUpstream();
    site.defaults["rpc/chat_config"] = ({ user, body: { assistant } }) => {
      const { users, origins } = ASSISTANTS[assistant] ?? { users: [] };
      if (users && !users.includes(user)) return unknownAssistant();
      return { body: { model: "test-model", settings: { ...DEFAULT_SETTINGS, allowed_origins: origins } } };
    };
    siteWorker = await startTestWorker(site);
  });
  after(() => closePair({ upstream: site, worker: siteWorker }));

  const from = (assistant, user, options = {}) => search(siteWorker.url, user, searchBody({ assistant }), options);

  test("the assistant reaches the search", async () => {
    const user = newUser();
    assert.equal((await from("shop", user)).status, 200);
    assert.equal(site.callsOf(user, "rpc/match_chunks")[0].body.assistant, "shop");
  });

  test("an assistant for others is unknown, and its users find its documents", async () => {
    const stranger = newUser();
    for (const name of ["staff", "no-such-assistant"])
      assertError(await from(name, stranger), 404, "unknown_assistant");
    assert.equal(site.callsOf(stranger, "rpc/match_chunks").length, 0);
    assert.equal((await from("staff", member)).json.results.length, 1);
  });

  test("an assistant with origins of its own is searched there only", async () => {
    const user = newUser();
    assert.equal((await from("shop", user, { headers: { origin: ORIGIN } })).status, 200);
    assertError(await from("shop", user, { headers: { origin: "https://other.test" } }), 403, "forbidden");
  });
});

describe("the limit of searches", () => {
  const LIMIT = 8;
  const QUESTIONS = 3;
  let clock;

  before(async () => {
    const variables = { CHAT_SEARCH_RATE_LIMIT: String(LIMIT), CHAT_RATE_LIMIT: String(QUESTIONS) };
    clock = await startClockWorker(upstream, variables);
  });
  after(() => clock?.close());

  const searchAs = (user) => search(clock.url, user, searchBody(), { token: tokenOf(user) });

  async function searchAt(time, user, count) {
    await clock.setTime(START + time);
    const replies = [];
    for (let i = 0; i < count; i++) replies.push(await searchAs(user));
    return replies;
  }

  test("the window is full after the limit and slides", async () => {
    const user = newUser();
    assert.deepEqual(statuses(await searchAt(0, user, 5)), Array(5).fill(200));
    const later = await searchAt(30 * SECOND, user, 4);
    assert.deepEqual(statuses(later), [200, 200, 200, 429]);
    assert.deepEqual(rateLimit(later[2]), ["8", "0", "30"]);
    assertError(later[3], 429, "rate_limited");
    assert.deepEqual([later[3].headers.get("retry-after"), ...rateLimit(later[3])], ["30", "8", "0", "30"]);
    assert.deepEqual(statuses(await searchAt(MINUTE - 1, user, 1)), [429]);
    assert.deepEqual(statuses(await searchAt(MINUTE, user, 6)), [...Array(5).fill(200), 429]);
  });

  test("exactly the limit of concurrent searches is admitted, and one other at most reaches the database", async () => {
    const user = newUser();
    await clock.setTime(START);
    const replies = await Promise.all(Array.from({ length: 5 * LIMIT }, () => searchAs(user)));
    assert.equal(statuses(replies).filter((status) => status === 200).length, LIMIT);
    assert.equal(statuses(replies).filter((status) => status === 429).length, 4 * LIMIT);
    const begun = upstream.callsOf(user, "rpc/match_chunks").length;
    assert.ok(begun === LIMIT || begun === LIMIT + 1, `${begun} searches: one may begin before the limit is asked`);
  });

  test("searches take no question's place, and questions no search's", async () => {
    const user = newUser();
    await searchAt(0, user, LIMIT + 3);
    for (const remaining of ["2", "1", "0"]) assert.deepEqual(rateLimit(await clock.ask(user)), ["3", remaining, "60"]);
    assertError(await clock.ask(user), 429, "rate_limited");
    const { rows } = await clock.gateOf(user);
    assert.deepEqual([rows.searches.length, rows.admissions.length], [LIMIT, QUESTIONS]);
    const other = newUser();
    for (let i = 0; i < QUESTIONS + 1; i++) await clock.ask(other);
    assert.deepEqual(rateLimit(await searchAs(other)), ["8", "7", "60"]);
  });

  test("searches and questions at the same moment are admitted up to their own limits", async () => {
    const user = newUser();
    await clock.setTime(START);
    const together = Array.from({ length: 3 * LIMIT }, (_, at) => (at % 3 === 0 ? clock.ask(user) : searchAs(user)));
    const replies = await Promise.all(together);
    const admitted = (isQuestion) =>
      replies.filter(({ status }, at) => (at % 3 === 0) === isQuestion && status === 200).length;
    assert.deepEqual([admitted(true), admitted(false)], [QUESTIONS, LIMIT]);
  });

  test("a limited user is rejected without asking the Durable Object, and other users are not", async () => {
    const user = newUser();
    await searchAt(0, user, LIMIT + 1);
    const { requests } = await clock.gateOf(user);
    assert.deepEqual(statuses(await searchAt(0, user, 5)), Array(5).fill(429));
    assert.equal((await clock.gateOf(user)).requests, requests);
    assert.equal((await searchAs(newUser())).status, 200);
  });

  test("an object that only counted searches deletes itself", async () => {
    const user = newUser();
    await searchAt(0, user, 2);
    assert.equal((await clock.gateOf(user)).rows.searches.length, 2);
    await clock.setTime(START + 25 * 60 * MINUTE);
    const { rows, alarm } = await clock.ringAlarmOf(user);
    assert.deepEqual([Object.values(rows).flat().length, alarm ?? null], [0, null]);
  });

  test("erasing the user's data does not reset the limit", async () => {
    const user = newUser();
    await searchAt(0, user, LIMIT);
    assert.equal((await send(clock.url, "/api/me", { method: "DELETE", token: tokenOf(user) })).status, 204);
    assertError(await searchAs(user), 429, "rate_limited");
  });

  test("a search that fails tells how, and the question after it is answered", async () => {
    const user = newUser();
    let isBroken = true;
    upstream.behave(user, { "rpc/match_chunks": () => (isBroken ? { status: 500 } : { body: [passage()] }) });
    await clock.setTime(START);
    assertError(await searchAs(user), 503, "upstream_unavailable");
    isBroken = false;
    assert.equal((await clock.ask(user)).status, 200);
  });
});

describe("the rough limit of searches", () => {
  const LIMIT = 900;

  test("anonymous users share it at one address, and users with an account do not", async () => {
    let addresses = 0;
    const newAddress = () => `198.51.100.${(addresses += 1)}`;
    const invalid = searchBody({ query: "" });
    const searchFrom = (address, isAnonymous, user = newUser(), body = invalid) =>
      search(worker.url, user, body, {
        token: accessToken(user, { claims: { is_anonymous: isAnonymous } }),
        headers: { "cf-connecting-ip": address },
      });
    const { replies, key } = await exceed(LIMIT, newAddress, (address) => searchFrom(address, true));
    assert.equal(statuses(replies).filter((status) => status === 400).length, LIMIT);
    const stranger = newUser();
    assertError(await searchFrom(key, true, stranger, searchBody()), 429, "rate_limited");
    assert.equal(upstream.callsOf(stranger).length, 0, "the limit comes before the database");
    assert.equal((await searchFrom(key, false)).status, 400);
    const anonymous = accessToken(newUser(), { claims: { is_anonymous: true } });
    const asked = await ask(worker.url, undefined, question(), {
      token: anonymous,
      headers: { "cf-connecting-ip": key },
    });
    assert.equal(asked.status, 200, "questions have another limit");
  });
});

describe("a client that types on", () => {
  test("an aborted search ends quietly, and its log line has no error of ours", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage()], delay: 1000 }) });
    const controller = new AbortController();
    const sent = search(worker.url, user, searchBody(), { signal: controller.signal });
    await eventually(() => upstream.callsOf(user).length > 0);
    controller.abort();
    await assert.rejects(sent, { name: "AbortError" });
    upstream.behave(user, {});
    assert.equal((await search(worker.url, user)).status, 200);
  });
});

// Search while a question is typed: its results and who sees what.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, eventually, exceed, question, search, searchBody, send } from "./support/client.mjs";
import { DEFAULT_SETTINGS, passage, startUpstream, unknownAssistant } from "./support/upstream.mjs";
import { closePair, ORIGIN, startPair, startTestWorker, withWorker } from "./support/worker.mjs";

let upstream, worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const rateLimit = ({ headers }) =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) => headers.get(name));
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
  test("a malformed field is a 400 before anything is asked", async () => {
    const user = newUser();
    const reply = await search(worker.url, user, searchBody({ limit: 11 }));
    assertError(reply, 400, "invalid_request");
    assert.deepEqual([upstream.callsOf(user).length, ...rateLimit(reply)], [0, null, null, null]);
  });

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

  test("CHAT_SEARCH turns searches off", async () => {
    await withWorker(upstream, { CHAT_SEARCH: "false" }, async ({ url }) => {
      const user = newUser();
      const reply = await search(url, user);
      assertError(reply, 403, "forbidden");
      assert.match(reply.json.message, /turned off/);
      assert.equal((await ask(url, user)).status, 200);
      assert.deepEqual(
        upstream.callsOf(user, "rpc/match_chunks").map(({ body }) => body.query_text),
        [question().message],
      );
    });
  });

  test("searches have a rough limit of their own, and take no question's place", async () => {
    const LIMIT = 600;
    const invalid = searchBody({ query: "" });
    const { replies, key: user } = await exceed(LIMIT, newUser, (user) => search(worker.url, user, invalid));
    assert.equal(replies.filter(({ status }) => status === 400).length, LIMIT);
    assertError(await search(worker.url, user), 429, "rate_limited");
    assert.equal(upstream.callsOf(user).length, 0, "the limit comes before the database");
    assert.deepEqual(rateLimit(await ask(worker.url, user)), ["20", "19", "60"]);
  });

  test("a search that fails tells how, and the question after it is answered", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ status: 500 }) });
    assertError(await search(worker.url, user), 503, "upstream_unavailable");
    upstream.behave(user, {});
    assert.equal((await ask(worker.url, user)).status, 200);
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

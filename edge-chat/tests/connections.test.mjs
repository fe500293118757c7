// Clients that send slowly or disconnect early. They connect to the Worker directly, because the proxy of the other tests
// hides what happens to a connection.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, eventually, question, replyOf, send } from "./support/client.mjs";
import { openRaw, sendRaw } from "./support/raw.mjs";
import { accessToken } from "./support/tokens.mjs";
import { NOBODY, passage } from "./support/upstream.mjs";
import { TIMEOUT_MS, closePair, startPair, withWorker } from "./support/worker.mjs";

/** How long a body may take to arrive. */
const BODY_MS = 10_000;
/** Less than any timeout: what counts as immediate. */
const PROMPT_MS = 1000;
const WAYS_TO_GO = { resets: (socket) => socket.resetAndDestroy(), closes: (socket) => socket.destroy() };

let upstream;
let worker;

before(async () => {
  ({ upstream, worker } = await startPair({}, { direct: true }));
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const searchesOf = (user) => upstream.callsOf(user, "rpc/match_chunks");

/** A request of a user with a JSON body, to be sent over a separate socket. */
function request(user, method, target, body) {
  const bytes = Buffer.from(body === undefined ? "" : JSON.stringify(body));
  const about = [
    ["Content-Type", "application/json"],
    ["Content-Length", String(bytes.length)],
  ];
  const headers = [["Authorization", `Bearer ${accessToken(user)}`], ...(body === undefined ? [] : about)];
  return { method, target, headers, pieces: [bytes] };
}

/** The same request with a pause in the middle of the body. */
function slow(/** @type {ReturnType<typeof request>} */ { pieces: [bytes], ...rest }, ms) {
  return { ...rest, pieces: [bytes.subarray(0, 5), ms, bytes.subarray(5)] };
}

/** The same request with only the beginning of the body. */
function begun(/** @type {ReturnType<typeof request>} */ { pieces: [bytes], ...rest }) {
  return { ...rest, pieces: [bytes.subarray(0, 5)] };
}

/** A user whose searches hang until `recover` is called. */
function userWithHangingSearch() {
  const user = newUser();
  let hangs = true;
  upstream.behave(user, { "rpc/match_chunks": () => (hangs ? { hang: true } : { body: [passage()] }) });
  return { user, recover: () => (hangs = false) };
}

/** Collects the log lines of requests that are written from now on. */
function watchLog() {
  const known = worker.log.length;
  return () =>
    worker.log
      .slice(known)
      .filter((line) => line.includes('"route"'))
      .map((line) => JSON.parse(line.slice(line.indexOf("{"))));
}

async function prompt(work) {
  const started = performance.now();
  const result = await work();
  const ms = Math.round(performance.now() - started);
  assert.ok(ms < PROMPT_MS, `took ${ms} ms`);
  return result;
}

describe("slow request body", () => {
  test("a slow body neither shortens the upstream deadline nor delays other requests", async () => {
    await withWorker(
      upstream,
      { CHAT_UPSTREAM_TIMEOUT_MS: "500" },
      async ({ url }) => {
        const user = newUser();
        const { id } = upstream.history.addSession(user);
        const rename = request(user, "PATCH", `/api/sessions/${id}`, { title: "New" });
        const asked = request(user, "POST", "/api/chat", question());
        const late = await Promise.all([...Array(5).fill(rename), asked].map((sent) => sendRaw(url, slow(sent, 700))));
        assert.deepEqual(
          late.map(({ status }) => status),
          Array(6).fill(200),
        );
        assert.equal((await send(url, "/api/sessions", { user: newUser() })).status, 200);
      },
      { direct: true },
    );
  });

  test("a body is rejected after ten seconds", async () => {
    const user = newUser();
    const { id } = upstream.history.addSession(user);
    const requests = [
      request(user, "PATCH", `/api/sessions/${id}`, { title: "New" }),
      request(user, "POST", "/api/chat", question()),
    ];
    const stopped = requests.map(async (sent) => {
      const { ms, ...result } = await sendRaw(worker.url, begun(sent), BODY_MS + 2000);
      const reply = replyOf({ method: sent.method, path: sent.target, ...result });
      assertError(reply, 400, "invalid_request");
      assert.ok(ms >= BODY_MS - 100, `took ${ms} ms`);
    });
    await Promise.all(stopped);
    assert.deepEqual(searchesOf(user), []);
    const next = await ask(worker.url, user);
    assert.deepEqual([next.status, next.headers.get("ratelimit-remaining")], [200, "19"]);
  });
});

describe("connection reset during a search", () => {
  // Closing the connection would look to the runtime like the end of the request.
  test("a reset connection cancels the search, and the question can be asked again immediately", async () => {
    const { user, recover } = userWithHangingSearch();
    const sent = question();
    const lines = watchLog();
    const socket = openRaw(worker.url, request(user, "POST", "/api/chat", sent));
    await eventually(() => searchesOf(user).length === 1);
    socket.resetAndDestroy();
    await eventually(() => searchesOf(user)[0].closed, PROMPT_MS);
    const [line] = await eventually(() => lines().length > 0 && lines(), PROMPT_MS);
    assert.deepEqual([line.route, line.status], ["/api/chat", 499]);

    recover();
    const again = await prompt(() => ask(worker.url, user, sent));
    assert.equal(again.events.at(-1).type, "answer_end");
    assert.equal(again.headers.get("ratelimit-remaining"), "18", "what was given up counts");
    await worker.lineOf(again);
    assert.deepEqual(
      lines().map(({ status }) => status),
      [499, 200],
    );
  });
});

test("when a client disconnects while the settings are read, the next request reads them", async () => {
  const reads = () => upstream.callsOf(NOBODY, "rpc/chat_config").length - known;
  const known = upstream.callsOf(NOBODY, "rpc/chat_config").length;
  const usual = upstream.defaults["rpc/chat_config"];
  upstream.behave(NOBODY, { "rpc/chat_config": (call) => (reads() === 1 ? { hang: true } : usual(call)) });
  const use = async ({ url }) => {
    const socket = openRaw(url, request(newUser(), "POST", "/api/chat", question()));
    await eventually(() => reads() === 1);
    const next = ask(url, newUser());
    await sleep(100);
    socket.resetAndDestroy();
    await prompt(async () => assert.equal((await next).status, 200));
    assert.equal(reads(), 2);
  };
  await withWorker(upstream, {}, use, { direct: true }).finally(() => upstream.behave(NOBODY, {}));
});

for (const [verb, go] of Object.entries(WAYS_TO_GO)) {
  describe(`client that ${verb} its connection`, () => {
    test(`a repeat that ${verb} its connection while waiting does not block the question when the first run fails`, async () => {
      const { user, recover } = userWithHangingSearch();
      const sent = question();
      const first = ask(worker.url, user, sent);
      await eventually(() => searchesOf(user).length === 1);
      const socket = openRaw(worker.url, request(user, "POST", "/api/chat", sent));
      await sleep(300);
      go(socket);
      assertError(await first, 504, "upstream_timeout");
      recover();
      const again = await prompt(() => ask(worker.url, user, sent));
      assert.equal(again.events.at(-1).type, "answer_end");
      await prompt(() => ask(worker.url, user));
    });

    test(`a request that ${verb} its connection while its history is read still has one log line`, async () => {
      const user = newUser();
      upstream.behave(user, { chat_sessions: () => ({ delay: TIMEOUT_MS / 4, body: [] }) });
      // Log lines of earlier questions may still arrive: they are written with the history.
      const watched = watchLog();
      const lines = () => watched().filter(({ route }) => route === "/api/sessions");
      const socket = openRaw(worker.url, request(user, "GET", "/api/sessions"));
      await eventually(() => upstream.callsOf(user, "chat_sessions").length === 1);
      go(socket);
      await eventually(() => lines().length > 0, TIMEOUT_MS + PROMPT_MS);
      await sleep(TIMEOUT_MS / 4);
      assert.equal(lines().length, 1);
    });
  });
}

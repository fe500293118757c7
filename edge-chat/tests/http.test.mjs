// What all routes share: CORS, methods, headers, rate limits, and the log.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, assertError, eventually, exceed, headerOf, question, search, send } from "./support/client.mjs";
import { accessToken, signingKey } from "./support/tokens.mjs";
import { DOCUMENT_ID, NOBODY, passage, startUpstream, weakPassage } from "./support/upstream.mjs";
import { closePair, ORIGIN, startPair, withSettings, withWorker } from "./support/worker.mjs";

/** The Worker with rate limits that always throw. */
const BROKEN_LIMITS = fileURLToPath(new URL("./support/broken-limits-worker.mjs", import.meta.url));
const SESSION = "5e551011-0000-4000-8000-000000000001";
/** Each path with its methods. */
const ROUTES = {
  "/api/health": ["GET", "HEAD"],
  "/api/ready": ["GET", "HEAD"],
  "/api/config": ["GET", "HEAD"],
  "/api/chat": ["POST"],
  "/api/sessions": ["GET"],
  [`/api/sessions/${SESSION}`]: ["GET", "PATCH", "DELETE"],
  [`/api/sessions/${SESSION}/messages`]: ["GET"],
  [`/api/sessions/${SESSION}/messages/${SESSION}/feedback`]: ["PUT", "DELETE"],
  [`/api/documents/${DOCUMENT_ID}/download`]: ["GET", "HEAD"],
  "/api/me": ["DELETE"],
  "/api/me/export": ["GET"],
};
const EXPOSED = [
  "x-request-id",
  "retry-after",
  "ratelimit-limit",
  "ratelimit-remaining",
  "ratelimit-reset",
  "server-timing",
  "content-disposition",
  "content-range",
  "accept-ranges",
];

/** Requests a minute, as in wrangler.toml. */
const LIMIT = 600;

let upstream;
let worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const listOf = (headers, name) => (headers.get(name) ?? "").split(",").map((part) => part.trim().toLowerCase());

function preflight(url, path, origin, method = "GET") {
  const headers = {
    origin,
    "access-control-request-method": method,
    "access-control-request-headers": "authorization",
  };
  return send(url, path, { method: "OPTIONS", headers });
}

describe("health and readiness", () => {
  test("/api/health needs neither configuration nor Supabase", async () => {
    await withWorker({ url: "" }, { SUPABASE_JWT_SECRET: "", SUPABASE_PUBLISHABLE_KEY: "" }, async ({ url }) => {
      const reply = await send(url, "/api/health");
      assert.deepEqual([reply.status, reply.json], [200, { status: "ok" }]);
      // Monitors use HEAD.
      const head = await send(url, "/api/health", { method: "HEAD" });
      assert.deepEqual([head.status, head.text], [200, ""]);
    });
  });

  test("/api/ready asks Supabase on each request", async () => {
    const before = upstream.callsOf(NOBODY, "rpc/chat_config").length;
    for (let i = 0; i < 2; i++) {
      const reply = await send(worker.url, "/api/ready");
      assert.deepEqual([reply.status, reply.json], [200, { status: "ready" }]);
    }
    assert.equal((await send(worker.url, "/api/ready", { method: "HEAD" })).status, 200);
    assert.equal(upstream.callsOf(NOBODY, "rpc/chat_config").length - before, 3);
  });

  const NOT_READY = {
    "cannot be reached": [{ reset: true }, 503],
    fails: [{ status: 500 }, 503],
    hangs: [{ hang: true }, 504],
    "is not migrated": [{ status: 404, body: { code: "PGRST202" } }, 503],
  };
  for (const [name, [fault, status]] of Object.entries(NOT_READY)) {
    test(`/api/ready fails when Supabase ${name}`, async () => {
      upstream.behave(NOBODY, { "rpc/chat_config": () => fault });
      try {
        await withWorker(upstream, {}, async ({ url }) => {
          assertError(
            await send(url, "/api/ready"),
            status,
            status === 503 ? "upstream_unavailable" : "upstream_timeout",
          );
          assert.equal((await send(url, "/api/ready", { method: "HEAD" })).status, status);
          assert.equal((await send(url, "/api/health")).status, 200);
        });
      } finally {
        upstream.behave(NOBODY, {});
      }
    });
  }
});

describe("methods", () => {
  for (const [path, methods] of Object.entries(ROUTES)) {
    test(`${path} allows only ${methods.join(", ")}`, async () => {
      const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].filter((method) => !methods.includes(method));
      for (const method of others) {
        const reply = await send(worker.url, path, { method, user: newUser() });
        assert.equal(reply.status, 405, method);
        if (method !== "HEAD") assertError(reply, 405, "invalid_request");
        assert.deepEqual(
          new Set(listOf(reply.headers, "allow")),
          new Set([...methods, "OPTIONS"].map((m) => m.toLowerCase())),
        );
      }
      assert.notEqual((await send(worker.url, path, { method: methods[0], user: newUser() })).status, 405);
    });
  }

  test("an unknown path returns 404 without Allow for every method", async () => {
    for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
      const reply = await send(worker.url, "/api/nowhere", { method });
      assertError(reply, 404, "not_found");
      assert.equal(reply.headers.get("allow"), null);
    }
  });
});

describe("CORS", () => {
  const PATTERNS = "https://*.example.com, https://exact.test, http://localhost:8080";
  const ALLOWED = ["https://www.example.com", "https://a.b.example.com", "https://exact.test", "http://localhost:8080"];
  const REFUSED = [
    "https://example.com",
    "http://www.example.com",
    "https://www.example.com:8443",
    "https://example.com.evil.test",
    "https://evilexample.com",
    "https://www.example.com.evil.test",
    "https://evil.test/.example.com",
    "https://evil.test#.example.com",
    "https://user@www.example.com",
    "https://.example.com",
    "https://*.example.com",
    "https://WWW.EXAMPLE.COM.evil.test",
    "http://exact.test",
    "https://sub.exact.test",
    "https://exact.test.evil.test",
    "http://localhost",
    "http://localhost:80801",
    "null",
    "",
  ];
  test("origins of the allow-list and its patterns are allowed", async () => {
    await withWorker(upstream, { CHAT_ALLOWED_ORIGINS: PATTERNS }, async ({ url }) => {
      for (const origin of ALLOWED) {
        const reply = await preflight(url, "/api/chat", origin);
        assert.deepEqual([reply.status, reply.headers.get("access-control-allow-origin")], [204, origin]);
      }
      for (const origin of REFUSED) {
        const reply = await preflight(url, "/api/chat", origin);
        assert.deepEqual([reply.status, reply.headers.get("access-control-allow-origin")], [403, null], origin);
      }
    });
  });

  test("without an allow-list no origin is allowed", async () => {
    await withWorker(upstream, { CHAT_ALLOWED_ORIGINS: "" }, async ({ url }) => {
      assertError(await preflight(url, "/api/chat", ORIGIN), 403, "forbidden");
    });
  });

  for (const [path, methods] of Object.entries(ROUTES)) {
    test(`a cacheable preflight allows ${path}`, async () => {
      const reply = await preflight(worker.url, path, ORIGIN, methods.at(-1));
      assert.deepEqual([reply.status, reply.text], [204, ""]);
      const allowed = listOf(reply.headers, "access-control-allow-methods");
      for (const method of methods.filter((name) => name !== "HEAD"))
        assert.ok(allowed.includes(method.toLowerCase()), method);
      const headers = listOf(reply.headers, "access-control-allow-headers");
      for (const name of ["authorization", "content-type"]) assert.ok(headers.includes(name), name);
      assert.ok(Number(reply.headers.get("access-control-max-age")) >= 600);
      assertError(await preflight(worker.url, path, "https://evil.test"), 403, "forbidden");
    });
  }

  test("an allowed origin can read responses of every status", async () => {
    const headers = { origin: ORIGIN };
    const replies = await Promise.all([
      ask(worker.url, newUser(), question(), { headers }),
      ask(worker.url, newUser(), "{", { headers }),
      send(worker.url, "/api/sessions", { headers }),
      send(worker.url, "/api/nowhere", { headers }),
      send(worker.url, "/api/health", { method: "POST", headers }),
      send(worker.url, "/api/config", { headers }),
    ]);
    for (const reply of replies) {
      assert.equal(reply.headers.get("access-control-allow-origin"), ORIGIN);
      const exposed = listOf(reply.headers, "access-control-expose-headers");
      for (const name of EXPOSED) assert.ok(exposed.includes(name), name);
    }
  });

  test("other origins get no CORS headers", async () => {
    /** @type {Record<string, string>[]} */
    const cases = [{ origin: "https://evil.test" }, {}];
    for (const headers of cases) {
      const reply = await send(worker.url, "/api/config", { headers });
      assert.equal(reply.headers.get("access-control-allow-origin"), null);
      assert.match(headerOf(reply.headers, "vary"), /\bOrigin\b/);
    }
  });
});

describe("content types", () => {
  test("an answer is an event stream by default and JSON on request", async () => {
    const stream = await ask(worker.url, newUser());
    assert.match(headerOf(stream.headers, "content-type"), /^text\/event-stream\b/);
    const json = await ask(worker.url, newUser(), question(), { headers: { accept: "application/json" } });
    assert.match(headerOf(json.headers, "content-type"), /^application\/json\b/);
    assert.equal(json.json.type, "answer");
  });

  test("errors are JSON even if a stream is requested", async () => {
    const reply = await ask(worker.url, newUser(), "{", { headers: { accept: "text/event-stream" } });
    assert.match(headerOf(reply.headers, "content-type"), /^application\/json\b/);
  });
});

describe("rate limit per IP address", () => {
  let addresses = 0;
  const newAddress = () => `198.51.100.${(addresses += 1)}`;
  const isStranger = (status) => status === 401;

  async function flood(make) {
    const { replies, key } = await exceed(LIMIT, newAddress, (address) => make({ "cf-connecting-ip": address }));
    return { replies, address: key };
  }

  test("requests without a valid token are limited, and users at the same address are not", async () => {
    const { replies, address } = await flood((headers) =>
      ask(worker.url, newUser(), question(), { token: "x.y.z", headers }),
    );
    assert.equal(replies.filter(({ status }) => isStranger(status)).length, LIMIT);
    const limited = replies.filter(({ status }) => status === 429);
    assert.equal(limited.length, 10);
    for (const reply of limited) {
      assertError(reply, 429, "rate_limited");
      assert.equal(reply.headers.get("retry-after"), "60");
      assert.equal(reply.headers.get("ratelimit-limit"), null, "this is another limit than the user's");
    }
    const headers = { "cf-connecting-ip": address };
    assert.equal((await ask(worker.url, newUser(), question(), { headers })).status, 200);
    assertError(await send(worker.url, "/api/ready", { headers }), 429, "rate_limited");
    assert.equal((await send(worker.url, "/api/health", { headers })).status, 200);
    const elsewhere = { "cf-connecting-ip": newAddress() };
    assertError(await send(worker.url, "/api/sessions", { headers: elsewhere }), 401, "unauthorized");
  });

  test("all private routes count together", async () => {
    const paths = ["/api/sessions", `/api/sessions/${SESSION}`, `/api/documents/${DOCUMENT_ID}/download`];
    let turn = 0;
    const { replies } = await flood((headers) => send(worker.url, paths[turn++ % paths.length], { headers }));
    assert.equal(replies.filter(({ status }) => status === 429).length, 10);
  });

  test("requests with a valid token do not count", async () => {
    const { replies } = await flood((headers) => send(worker.url, "/api/sessions", { user: newUser(), headers }));
    assert.ok(replies.every(({ status }) => status === 200));
  });

  test("tokens that cannot be verified count too", async () => {
    const faulty = await startUpstream();
    faulty.behave(NOBODY, { jwks: () => ({ status: 500 }) });
    const token = signingKey("ES256").token(newUser());
    const use = async ({ url }) => {
      const { replies } = await flood((headers) => send(url, "/api/sessions", { token, headers }));
      assert.equal(replies.filter(({ status }) => status === 503).length, LIMIT);
      assert.equal(replies.filter(({ status }) => status === 429).length, 10);
    };
    await withWorker(faulty, {}, use).finally(faulty.close);
  });
});

describe("IP address of a client", () => {
  const knock = (url, headers) => send(url, "/api/sessions", { headers });
  let addresses = 0;
  const newAddress = () => `198.18.${(addresses += 1) >> 8}.${addresses & 255}`;
  /** Exhausts a limit with requests that each have another address in the header. */
  const flood = (url, header) =>
    exceed(
      LIMIT,
      () => header,
      () => knock(url, { [header]: newAddress() }),
    );
  const limitedOf = ({ replies }) => replies.filter(({ status }) => status === 429).length;

  test("without Cloudflare and without a setting all clients share one limit", async () => {
    const use = async ({ url }) => assert.equal(limitedOf(await flood(url, "cf-connecting-ip")), 10);
    await withWorker(upstream, {}, use, { direct: true });
  });

  test("the address comes only from the configured header", async () => {
    const use = async ({ url }) => {
      assert.equal(limitedOf(await flood(url, "x-real-ip")), 0);
      const { replies, key } = await exceed(LIMIT, newAddress, (address) =>
        knock(url, { "x-real-ip": address, "cf-connecting-ip": crypto.randomUUID() }),
      );
      assert.equal(limitedOf({ replies }), 10);
      assertError(await knock(url, { "x-real-ip": key }), 429, "rate_limited");
      assert.equal(limitedOf(await flood(url, "cf-connecting-ip")), 10);
    };
    await withWorker(upstream, { CHAT_CLIENT_ADDRESS_HEADER: "X-Real-IP" }, use);
  });
});

describe("broken rate limit binding", () => {
  const warningsIn = (log) => log.filter((line) => line.includes('"warning"'));
  const use = (fault) => async (open) => {
    for (let i = 0; i < 3; i++) {
      const user = newUser();
      assertError(await send(open.url, "/api/sessions"), 401, "unauthorized");
      assert.equal((await send(open.url, "/api/sessions", { user })).status, 200);
      assert.equal((await send(open.url, "/api/me/export", { user })).status, 200);
      assert.equal((await ask(open.url, user)).status, 200);
      assert.equal((await search(open.url, user)).status, 200);
      const token = accessToken(user, { claims: { is_anonymous: true } });
      assert.equal((await ask(open.url, user, question(), { token })).status, 200);
    }
    const { json } = await send(open.url, "/api/ready");
    const warning = `REQUEST_LIMIT ${fault}: requests are not limited by it`;
    assert.deepEqual(json, { status: "ready", warnings: [warning] });
    await eventually(() => warningsIn(open.log).length > 0);
    assert.equal(warningsIn(open.log).length, 1, "it is in the log once");
    assert.ok(warningsIn(open.log)[0].includes(warning));
  };

  test("a missing binding is logged once and reported by /api/ready", async () => {
    await withWorker(upstream, {}, use("is not bound"), { without: ["REQUEST_LIMIT"] });
  });

  test("a failing binding is logged once and reported by /api/ready", async () => {
    await withWorker(upstream, {}, use("has failed"), { entry: BROKEN_LIMITS });
  });

  test("/api/ready has no warnings if the binding works", async () => {
    assert.deepEqual((await send(worker.url, "/api/ready", { headers: { "cf-connecting-ip": "192.0.2.1" } })).json, {
      status: "ready",
    });
  });
});

describe("rough rate limit per user", () => {
  const REQUESTS = [
    ["GET", "/api/sessions"],
    ["GET", `/api/sessions/${SESSION}`],
    ["PATCH", `/api/sessions/${SESSION}`],
    ["DELETE", `/api/sessions/${SESSION}`],
    ["GET", `/api/sessions/${SESSION}/messages`],
    ["DELETE", `/api/sessions/${SESSION}/messages/${SESSION}/feedback`],
    ["GET", `/api/documents/${DOCUMENT_ID}/download`],
    ["GET", "/api/me/export"],
    ["DELETE", "/api/me"],
  ];

  test("all requests of the user but searches count together, before the database or a Durable Object is asked", async () => {
    const sent = question();
    let turn = 0;
    const { replies, key: user } = await exceed(LIMIT, newUser, (user) => {
      const at = turn++ % (REQUESTS.length + 1);
      if (at === REQUESTS.length) return ask(worker.url, user, sent);
      const [method, path] = REQUESTS[at];
      return send(worker.url, path, { method, user, ...(method === "PATCH" && { body: { title: "New" } }) });
    });
    const limited = replies.filter((reply) => reply.status === 429 && !reply.headers.has("ratelimit-limit"));
    assert.equal(limited.length, 10);
    for (const reply of replies.slice(LIMIT)) {
      assertError(reply, 429, "rate_limited");
      assert.equal(reply.headers.get("retry-after"), "60");
      assert.equal(reply.headers.get("ratelimit-limit"), null, "this is another limit than the exact one");
    }
    const calls = upstream.callsOf(user).length;
    for (const [method, path] of REQUESTS) {
      assertError(await send(worker.url, path, { method, user }), 429, "rate_limited");
    }
    assertError(await ask(worker.url, user), 429, "rate_limited");
    assert.equal(upstream.callsOf(user).length, calls);
    assert.equal((await search(worker.url, user)).status, 200, "searches have a limit of their own");
    assert.equal((await ask(worker.url, newUser(), sent)).status, 200);
    assert.equal((await send(worker.url, "/api/config", { user })).status, 200);
  });
});

describe("log", () => {
  test("each request has one log line with outcome, scores and stages", async () => {
    const user = newUser();
    const reply = await ask(worker.url, user);
    const line = await worker.lineOf(reply);
    assert.equal(worker.linesOf(reply).length, 1);
    const { route, status, outcome, ms, stages, similarity, confidence, persisted } = line;
    assert.deepEqual([route, status, outcome, persisted], ["/api/chat", 200, "answer", true]);
    assert.equal(similarity, 0.8);
    assert.ok(confidence > 0 && confidence <= 1);
    assert.equal(typeof ms, "number");
    for (const stage of ["search", "history"]) assert.equal(typeof stages[stage], "number", stage);
  });

  /** @type {Record<string, [request: () => ReturnType<typeof send>, status: number, outcome: string]>} */
  const OUTCOMES = {
    "a refusal": [() => ask(worker.url, refused()), 200, "weak_evidence"],
    "an invalid question": [() => ask(worker.url, newUser(), "{"), 400, "invalid_request"],
    "a request without a token": [() => send(worker.url, "/api/sessions"), 401, "unauthorized"],
    "an unknown path": [() => send(worker.url, "/secret-path?secret=1"), 404, "not_found"],
    "a wrong method": [() => send(worker.url, "/api/chat"), 405, "invalid_request"],
    health: [() => send(worker.url, "/api/health"), 200, "ok"],
  };
  function refused() {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [weakPassage()] }) });
    return user;
  }
  for (const [name, [request, status, outcome]] of Object.entries(OUTCOMES)) {
    test(`the log names the outcome of ${name}`, async () => {
      const reply = await request();
      const line = await worker.lineOf(reply);
      assert.deepEqual([line.status, line.outcome], [status, outcome]);
      assert.equal(worker.linesOf(reply).length, 1);
      assert.ok(!worker.log.some((text) => text.includes("secret")));
    });
  }

  test("the log distinguishes a repeat from a first answer", async () => {
    const user = newUser();
    const sent = question();
    await ask(worker.url, user, sent);
    assert.equal((await worker.lineOf(await ask(worker.url, user, sent))).outcome, "replay");
  });

  test("the log contains no question, token or vector", async () => {
    const user = newUser();
    const token = accessToken(user);
    const sent = question({ message: "my-private-words refunds" });
    await worker.lineOf(await ask(worker.url, user, sent, { token }));
    const failing = newUser();
    upstream.behave(failing, { "rpc/match_chunks": () => ({ status: 500, body: { message: "my-private-words" } }) });
    await worker.lineOf(await ask(worker.url, failing, sent));
    const log = worker.log.join("\n");
    for (const secret of ["my-private-words", token, token.split(".")[2], "[1,0,0", "[1.0,0.0"]) {
      assert.ok(!log.includes(secret), secret);
    }
  });

  test("the log contains the question if the site owner enables that", async () => {
    await withSettings(upstream, { log_questions: true }, async (open) => {
      const reply = await ask(open.url, newUser(), question({ message: "my-public-words refunds" }));
      assert.equal((await open.lineOf(reply)).question, "my-public-words refunds");
    });
  });

  test("a client cannot inject text into the log", async () => {
    const headers = { "x-request-id": 'forged"}{"forged":true', "user-agent": "forged" };
    await worker.lineOf(await send(worker.url, "/api/forged?forged", { headers }));
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage({ document_name: '\n{"forged":true}' })] }) });
    await worker.lineOf(await ask(worker.url, user));
    assert.ok(!worker.log.some((line) => line.includes("forged")));
  });
});

describe("Server-Timing", () => {
  const parse = (headers) =>
    Object.fromEntries(
      headers
        .get("server-timing")
        .split(", ")
        .map((part) => {
          const [, name, duration] = /^([\w-]+);dur=(\d+(?:\.\d+)?)$/.exec(part) ?? assert.fail(part);
          return [name, Number(duration)];
        }),
    );

  test("Server-Timing contains the stages before the response", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage()], delay: 120 }) });
    const timing = parse((await ask(worker.url, user)).headers);
    assert.ok(timing.search >= 100, `search took ${timing.search} ms`);
    assert.ok(timing.total >= timing.search);
  });

  test("errors have Server-Timing too", async () => {
    assert.ok("total" in parse((await send(worker.url, "/api/nowhere")).headers));
  });
});

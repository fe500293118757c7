// Hostile requests: each gets a documented 4xx as JSON immediately, and nothing is written.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, headerOf, question, replyOf, send } from "./support/client.mjs";
import { FIELD_CASES } from "./support/hostile/fields.mjs";
import { JSON_CASES } from "./support/hostile/json.mjs";
import { PLACE_CASES } from "./support/hostile/places.mjs";
import { RUNTIME_CASES } from "./support/hostile/runtime.mjs";
import { tokenCases } from "./support/hostile/tokens.mjs";
import { TRANSPORT_CASES } from "./support/hostile/transport.mjs";
import { sendRaw } from "./support/raw.mjs";
import { accessToken, signingKey } from "./support/tokens.mjs";
import { startUpstream } from "./support/upstream.mjs";
import { closePair, startTestWorker } from "./support/worker.mjs";

const MIN_CASES = 1000;
const LIMIT_MS = 2000;

const keys = { ec: signingKey("ES256"), rsa: signingKey("RS256") };
const CORPUS = {
  "JSON oddities": JSON_CASES,
  "wrong values": FIELD_CASES,
  "types, sizes, methods and headers": TRANSPORT_CASES,
  "paths, ids and queries": PLACE_CASES,
  "access tokens": tokenCases(keys),
};
const READS = new Set(["rpc/match_chunks", "rpc/chat_config", "jwks"]);

let upstream;
let worker;
let addresses = 0;
/** Users whose questions are answered and so stored. */
const harmlessUsers = new Set();

before(async () => {
  upstream = await startUpstream();
  upstream.keys.push(keys.ec.jwk, keys.rsa.jwk);
  worker = await startTestWorker(upstream);
});

after(() => closePair({ upstream, worker }));

/** Each request has another IP network, so that the limit per IP address does not interfere. */
function address() {
  addresses += 1;
  return `2001:db8:0:${addresses.toString(16)}::1`;
}

/** The requests that the Worker made during `run`. */
async function callsDuring(work) {
  const known = upstream.calls.length;
  const result = await work();
  return { result, calls: upstream.calls.slice(known) };
}

const isWrite = ({ method, resource }) => method !== "GET" && method !== "HEAD" && !READS.has(resource);
const summary = (calls) => calls.map(({ method, resource }) => `${method} ${resource}`);

test(`the corpus has at least ${MIN_CASES} requests with unique names`, (t) => {
  const cases = Object.values(CORPUS).flat();
  const names = new Set(cases.map(({ name }) => name));
  assert.equal(names.size, cases.length, "two cases share a name");
  assert.ok(cases.length >= MIN_CASES, `${cases.length} cases`);
  const counts = Object.entries(CORPUS).map(([kind, { length }]) => `${kind} ${length}`);
  t.diagnostic(`${cases.length} hostile requests: ${counts.join(", ")}; ${RUNTIME_CASES.length} of invalid HTTP`);
});

for (const [kind, cases] of Object.entries(CORPUS)) {
  describe(kind, () => {
    for (const { name, expected, authorization, ...request } of cases) {
      test(`${name}: ${expected.join(" ")}`, async () => {
        const isKnown = authorization === undefined;
        const bearer = isKnown ? [["Authorization", `Bearer ${accessToken(crypto.randomUUID())}`]] : [];
        const headers = [["CF-Connecting-IP", address()], ...bearer, ...(request.headers ?? [])];
        const { result, calls } = await callsDuring(() => sendRaw(worker.url, { ...request, headers }));

        const reply = replyOf({ method: request.method, path: pathOf(request.target), ...result });
        assert.deepEqual([reply.status, reply.json?.code], expected, reply.text);
        assert.ok(result.ms < LIMIT_MS, `took ${Math.round(result.ms)} ms`);
        if (expected[0] === 405) assert.match(headerOf(reply.headers, "allow"), /\bOPTIONS$/);
        assert.deepEqual(summary(calls.filter(isWrite)), [], "something was written");
        if (!isKnown) assert.deepEqual(summary(calls.filter(({ resource }) => resource !== "jwks")), []);
        assert.equal((await send(worker.url, "/api/health")).status, 200);
      });
    }
  });
}

/** The path in the API description. */
function pathOf(target) {
  return new URL(`http://worker${target}`).pathname;
}

describe("invalid HTTP", () => {
  for (const { name, ...request } of RUNTIME_CASES) {
    test(`invalid HTTP does not reach the Worker: ${name}`, async () => {
      const headers = [
        ["CF-Connecting-IP", address()],
        ["Authorization", `Bearer ${accessToken(crypto.randomUUID())}`],
        ...(request.headers ?? []),
      ];
      const { result, calls } = await callsDuring(() => sendRaw(worker.url, { ...request, headers }));
      assert.ok(result.status >= 400, `status ${result.status}`);
      assert.ok(!result.headers.has("x-request-id"), "the Worker could have answered that in its own words");
      assert.ok(result.ms < LIMIT_MS);
      assert.deepEqual(summary(calls), []);
      assert.equal((await send(worker.url, "/api/health")).status, 200);
    });
  }
});

describe("harmless requests that look hostile", () => {
  const HARMLESS = {
    "unknown fields": { body: { surprise: { deep: [1, [2, [3]]] }, constructor: 1, toString: null } },
    "markup in the message": { body: { message: '<script>alert(1)</script> "refunds"' } },
    "SQL in the message": { body: { message: "'; drop table kb_documents; -- refunds" } },
    "controls in the message": { body: { message: "refunds\u0001\u001b[31m\u202e\uFFFE" } },
    "a vector the other way": { body: { embedding: [-1, ...Array(383).fill(-0)] } },
    "ids in capitals": { body: { message_id: crypto.randomUUID().toUpperCase() } },
    "null for what may be missing": { body: { session_id: null, include_citations: null } },
    "a type with a parameter": { headers: { "content-type": "APPLICATION/JSON ; charset=UTF-8" } },
    "an Accept of nonsense": { headers: { accept: ";;,/,q=,text/event-stream;q=9" } },
    "a hundred kinds of Accept": { headers: { accept: Array(100).fill("a/b;q=0.1").join(",") } },
    "an address that is none": { headers: { "cf-connecting-ip": "'; drop table" } },
    "a request id of the client's": { headers: { "x-request-id": "mine" } },
  };
  for (const [name, { body = {}, headers }] of Object.entries(HARMLESS)) {
    test(`a harmless request is answered: ${name}`, async () => {
      const user = crypto.randomUUID();
      harmlessUsers.add(user);
      const reply = await ask(worker.url, user, question(body), { headers });
      assert.deepEqual([reply.status, reply.events.at(-1)?.type], [200, "answer_end"], reply.text);
      assert.notEqual(reply.headers.get("x-request-id"), "mine");
    });
  }
});

test("afterwards the database contains only harmless questions", () => {
  const writers = new Set(upstream.calls.filter(isWrite).map(({ user }) => user));
  assert.deepEqual(writers, harmlessUsers);
});

// Searches while typing whose texts, documents, rows or tokens are hostile. `hostile.test.mjs` has those that are rejected.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assertError, search, searchBody } from "./support/client.mjs";
import { accessToken } from "./support/tokens.mjs";
import { passage, sentence } from "./support/upstream.mjs";
import { closePair, startPair } from "./support/worker.mjs";

let upstream, worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const finding = (...rows) => {
  const user = newUser();
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: rows }) });
  return user;
};

describe("requests that look hostile", () => {
  const TEXTS = {
    markup: '<script>alert(1)</script><img src=x onerror="alert(1)">',
    SQL: "'; drop table kb_documents; --",
    "operators of PostgREST": 'eq.1,or=(id.gt.0)&select=*"',
    "operators of text search": "a & !b | (c:* <-> 'd')",
    JSON: '{"message":"x"}","limit":10,"x":"',
    controls: "refunds\u0001\u001b[31m\u007f\u0085.",
    "other directions of writing": "\u202erefunds\u2066\u2069\u200f",
    "characters that are none": "refunds\uffff\ufffe\u{10ffff}",
    "a format of log lines": '%s %n ${env} {{x}}\r\n{"level":"error"}',
    "4,000 characters": "\u{1f98a}".repeat(4000),
    "one character": "?",
  };
  for (const [name, query] of Object.entries(TEXTS)) {
    test(`${name}: the text is searched for as it is`, async () => {
      const user = newUser();
      const reply = await search(worker.url, user, searchBody({ query }));
      assert.equal(reply.status, 200, reply.text);
      assert.deepEqual(
        upstream.callsOf(user).map(({ resource, body }) => [resource, body.query_text]),
        [["rpc/match_chunks", query]],
      );
      assert.ok(!worker.log.join("\n").includes(query) || query.length === 1, "the text is in the log");
    });
  }

  test("unknown fields, null for optional ones and a pair of surrogates in escapes are harmless", async () => {
    const { query: _, ...rest } = searchBody({ assistant: null, limit: null, surprise: { deep: [[1]] }, user_id: 1 });
    const user = newUser();
    const body = JSON.stringify(rest).replace("{", '{"query":"\\ud83e\\udd8a fox",');
    assert.equal((await search(worker.url, user, body)).status, 200);
    assert.equal(upstream.callsOf(user)[0].body.query_text, "\u{1f98a} fox");
  });

  test("markup and controls in a document are data of the results, without controls in the title", async () => {
    const title = "<b onclick=alert(1)>Refunds</b>\u0007\n\u202e";
    const section = '"><script>alert(1)</script>';
    const content = "Refunds are paid within <i>5 days</i>. [1] [x](javascript:alert(1))";
    const row = passage({
      content,
      meta: { section },
      document_meta: { title, url: 'https://page.test/"><script>' },
      sentences: [sentence(content, content, 0.8)],
    });
    const [result] = (await search(worker.url, finding(row))).json.results;
    assert.match(result.title, /^<b onclick=alert\(1\)>Refunds<\/b>/);
    assert.doesNotMatch(result.title, /\p{Cc}/u);
    assert.deepEqual([result.section, result.excerpt], [section, content]);
    for (const { start, end, text } of result.quotes) assert.equal(content.slice(start, end), text);
  });

  test("rows of a database that lies are left out or an error, never passed on", async () => {
    const { chunk_id: _, ...nameless } = passage();
    const good = passage();
    const { json } = await search(worker.url, finding(nameless, { content: 5 }, null, good));
    assert.deepEqual(
      json.results.map(({ chunk_id }) => chunk_id),
      [good.chunk_id],
    );
    assertError(await search(worker.url, finding(null)), 503, "upstream_unavailable");
  });
});

describe("tokens", () => {
  test("an expired token is a 401 before anything is asked, and an anonymous one searches", async () => {
    const user = newUser();
    const expired = accessToken(user, { claims: { exp: 1 } });
    assertError(await search(worker.url, undefined, searchBody(), { token: expired }), 401, "unauthorized");
    assert.equal(upstream.callsOf(user).length, 0);
    const anonymous = accessToken(user, { claims: { is_anonymous: true } });
    const headers = { "cf-connecting-ip": "203.0.113.7" };
    assert.equal((await search(worker.url, undefined, searchBody(), { token: anonymous, headers })).status, 200);
    const [call] = upstream.callsOf(user, "rpc/match_chunks");
    assert.equal(call.headers.authorization, `Bearer ${anonymous}`, "the database decides what they see");
  });
});

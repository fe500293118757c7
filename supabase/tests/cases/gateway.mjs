import assert from "node:assert/strict";
import { test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";
import { newTurn } from "../support/turn.mjs";

/** The gateway in front of Supabase Lite. */
export function gateway({ fetch, database, keys, anon, alice, bob, service }) {
  const get = (path, headers = {}) => fetch(new Request(`http://127.0.0.1${path}`, { headers }));

  for (const path of [
    "/",
    "/_system/info",
    "/%5fsystem/info",
    "/rest/v1/../../_system/info",
    "/_system",
    "/static/x.js",
  ]) {
    test(`${path} is not found`, async () => {
      for (const headers of [{}, { apikey: keys.secret_key }]) {
        const response = await get(path, headers);
        assert.equal(response.status, 404);
        assert.doesNotMatch(await response.text(), /connection|pglite|html/i);
      }
    });
  }

  test("a request without a key is rejected, also from this machine", async () => {
    assert.equal((await get("/rest/v1/kb_documents")).status, 401);
  });

  test("a page of another origin may call the auth API", async () => {
    const preflight = await fetch(
      new Request("http://127.0.0.1/auth/v1/token?grant_type=password", {
        method: "OPTIONS",
        headers: {
          origin: "http://127.0.0.1:8000",
          "access-control-request-method": "POST",
          "access-control-request-headers": "apikey,authorization,content-type,x-client-info,x-supabase-api-version",
        },
      }),
    );
    assert.ok(preflight.ok);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    const allowed = preflight.headers.get("access-control-allow-headers").toLowerCase();
    for (const header of ["apikey", "authorization", "content-type", "x-client-info", "x-supabase-api-version"]) {
      assert.ok(allowed.includes(header), header);
    }
    const signIn = (password) =>
      anon.request(
        "POST",
        "/auth/v1/token?grant_type=password",
        { email: "alice@example.com", password },
        { origin: "http://127.0.0.1:8000" },
      );
    const answer = await signIn("correct horse");
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    const refused = await signIn("wrong");
    assert.equal(refused.status, 400);
    assert.equal(refused.headers.get("access-control-allow-origin"), "*");
  });

  test("simultaneous requests of different users do not share a role or a user", async () => {
    const { id } = await writeDocument(database, { status: "pending" });
    const visits = [
      ...[alice, bob].map((user) => async () => {
        const turn = JSON.parse(newTurn({ title: "At once" }));
        assert.ok((await user.rpc("chat_record_turn", { turn })).status < 300);
        const own = await user.select("chat_sessions", "select=user_id");
        assert.ok(own.body.every((row) => row.user_id === user.id));
      }),
      async () => assert.equal((await service.select("kb_documents", `id=eq.${id}`)).body.length, 1),
      async () => assert.deepEqual((await alice.rpc("chat_documents", { ids: [id] })).body, []),
      async () => assert.equal((await anon.insert("chat_sessions", { title: "Anon" })).status, 401),
    ];
    await Promise.all(Array.from({ length: 50 }, (_, index) => visits[index % visits.length]()));
    await clearKnowledgeBase(database);
    await service.remove("chat_sessions", "title=eq.At once");
  });

  test("the seed creates the private bucket kb", async () => {
    const { body } = await service.request("GET", "/storage/v1/bucket/kb");
    assert.equal(body.public, false);
  });
}

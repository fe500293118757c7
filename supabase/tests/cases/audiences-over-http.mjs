import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument } from "../support/knowledge-base.mjs";

const STORAGE = "http://127.0.0.1/storage/v1/object";

/** The claims of a real token reach the policies, in the tables, the search, the history and the files. */
export function audiencesOverHttp({ fetch, database, keys, anon, service, signUp }) {
  const users = {};
  let document;

  before(async () => {
    users.sales = await signUp("sales@example.com", { app_metadata: { provider: "email", team: ["sales"] } });
    users.custom = await signUp("custom@example.com", { team: "sales" });
    users.it = await signUp("it@example.com", { app_metadata: { team: "it" }, user_metadata: { team: "sales" } });
    await service.update("assistants", "name=eq.default", { link_mode: "public" });
    await send("POST", "/kb/originals/1/plan.pdf", keys.secret_key, undefined, "the plan");
    const storagePath = "originals/1/plan.pdf";
    document = await writeDocument(database, { contents: ["the plan"], audience: ["team:sales"], storagePath });
  });
  after(async () => {
    await clearKnowledgeBase(database);
    await service.update("assistants", "name=eq.default", { link_mode: "none" });
    await service.remove("chat_sessions", "id=not.is.null");
    await database.exec("delete from storage.objects");
  });

  const send = (method, path, apikey, token, body) =>
    fetch(
      new Request(STORAGE + path, {
        method,
        headers: { apikey, ...(token && { authorization: `Bearer ${token}` }), "content-type": "application/json" },
        body,
      }),
    );
  const download = (user) => send("GET", "/authenticated/kb/originals/1/plan.pdf", keys.publishable_key, user.token);
  const sign = (user) =>
    send("POST", "/sign/kb/originals/1/plan.pdf", keys.publishable_key, user.token, JSON.stringify({ expiresIn: 60 }));

  for (const name of ["sales", "custom"]) {
    test(`with the claim (${name}), the caller sees everything of the document`, async () => {
      const user = users[name];
      const { body } = await user.rpc("match_chunks", { query_embedding: QUERY, query_text: "the plan" });
      assert.deepEqual(
        body.map((row) => row.document_id),
        [document.id],
      );
      assert.deepEqual((await user.rpc("chat_documents", { ids: [document.id] })).body, [
        { id: document.id, name: "test.md", storage_path: "originals/1/plan.pdf", link_mode: "public" },
      ]);
      assert.deepEqual((await user.rpc("chat_has_documents", {})).body, true);
      assert.equal(await (await download(user)).text(), "the plan");
      assert.equal((await sign(user)).status, 200);
    });
  }

  test("without the claim, the caller sees nothing of the document", async () => {
    const user = users.it;
    assert.deepEqual((await user.rpc("chat_documents", { ids: [document.id] })).body, []);
    assert.deepEqual((await user.rpc("chat_has_documents", {})).body, false);
    assert.deepEqual((await user.rpc("match_chunks", { query_embedding: QUERY, query_text: "the plan" })).body, []);
    for (const client of [user, anon]) {
      assert.equal((await download(client)).status, 400);
      assert.equal((await sign(client)).status, 400);
    }
  });

  test("a stored answer is visible as long as its document is", async () => {
    for (const [name, count] of [
      ["sales", 2],
      ["it", 1],
    ]) {
      const turn = {
        session_id: randomUUID(),
        title: "The plan",
        question_id: randomUUID(),
        question: "What is the plan?",
        answer_id: randomUUID(),
        answer: "The plan. [1]",
        // As if citations were switched off.
        citations: [],
        sources: [document.id],
        latency_ms: 120,
      };
      for (let repetition = 0; repetition < 2; repetition++) {
        const { status, body } = await users[name].rpc("chat_record_turn", { turn });
        assert.ok(status < 300, JSON.stringify(body));
      }
      const { body } = await users[name].select("chat_messages", `session_id=eq.${turn.session_id}`);
      assert.equal(body.length, count, `${name}`);
      const all = (await service.select("chat_messages", `session_id=eq.${turn.session_id}&order=created_at`)).body;
      assert.deepEqual(
        all.map((row) => [row.role, row.latency_ms, row.sources]),
        [
          ["user", null, []],
          ["assistant", 120, [document.id]],
        ],
      );
    }
  });
}

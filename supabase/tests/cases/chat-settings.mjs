import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { assertDenied } from "../support/assert-denied.mjs";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";

const DEFAULTS = {
  title: null,
  allowed_origins: null,
  evidence_threshold: null,
  evidence_confidence: null,
  match_count: null,
  link_mode: "none",
  citations: true,
  answer_mode: "extractive",
  refusal_message: null,
  refusal_suggestions: null,
  support_url: null,
  greeting: null,
  suggested_questions: [],
  log_questions: false,
};

/** Settings of the default assistant that the administrator edits, and chat_config, which returns them to everybody. */
export function chatSettings({ database, anon, alice, service }) {
  const change = (values) => service.update("assistants", "name=eq.default", values);
  const config = async (client = anon) => {
    const { status, body } = await client.rpc("chat_config", {});
    assert.equal(status, 200);
    return body;
  };

  afterEach(async () => {
    await database.exec(`
      delete from chat_sessions;
      delete from assistants;
      insert into assistants (name) values ('default');
      delete from chat_settings;
      insert into chat_settings default values`);
    await clearKnowledgeBase(database);
  });

  test("after the migrations there is one row with all defaults", async () => {
    assert.equal((await service.select("chat_settings")).body.length, 1);
    assert.equal((await service.select("assistants")).body.length, 1);
    const none = { model: null, calibration: null, hides_documents: null, outdated: null };
    assert.deepEqual(await config(), { ...none, settings: DEFAULTS });
  });

  test("anon, users and the service role get the same configuration", async () => {
    const changed = {
      title: "Help",
      allowed_origins: ["https://shop.example.com"],
      evidence_threshold: 0.5,
      evidence_confidence: 0,
      match_count: 50,
      link_mode: "public",
      citations: false,
      answer_mode: "endpoint",
      refusal_message: "No idea.",
      refusal_suggestions: ["contact"],
      support_url: "https://example.com/help?q={question}",
      greeting: "Hello!",
      suggested_questions: ["How do I pay?", "Où êtes-vous ?"],
    };
    assert.equal((await change(changed)).status, 200);
    await service.update("chat_settings", "id=is.true", { log_questions: true });
    for (const client of [anon, alice, service]) {
      assert.deepEqual((await config(client)).settings, { ...changed, log_questions: true });
    }
  });

  test("without the row of chat_settings all settings have their defaults", async () => {
    await service.update("chat_settings", "id=is.true", { log_questions: true });
    await service.remove("chat_settings", "id=is.true");
    assert.deepEqual((await config()).settings, DEFAULTS);
  });

  test("a change sets updated_at", async () => {
    const [before] = (await service.select("chat_settings")).body;
    const [after] = (await change({ greeting: "Hi" })).body;
    assert.ok(after.updated_at > before.updated_at);
  });

  test("anon and users can neither read nor write the settings", async () => {
    for (const [client, status] of [
      [anon, 401],
      [alice, 403],
    ]) {
      for (const [table, row] of [
        ["chat_settings", { gap_users: 3 }],
        ["assistants", { name: "new" }],
      ]) {
        assertDenied(await client.select(table), status, table);
        assertDenied(await client.insert(table, row), status, table);
        assertDenied(await client.update(table, "updated_at=not.is.null", row), status, table);
        assertDenied(await client.remove(table, "updated_at=not.is.null"), status, table);
      }
    }
  });

  const limits = {
    name: {
      good: ["a", "shop-2", "a".repeat(63), "default"],
      bad: ["", "Shop", "a b", "a/b", "-a", "a-", "ü", "a".repeat(64), "a\n"],
    },
    title: { good: ["a".repeat(100), null], bad: ["", " ", "a".repeat(101)] },
    collections: {
      good: [["a".repeat(200), "hand book"], null],
      bad: [[], [""], [null], ["a/b"], ["a\nb"], ["a".repeat(201)], Array(101).fill("a")],
    },
    audience: {
      good: [["team:sales"], null],
      bad: [[], ["sales"], [null], ["user_metadata:x"], ["email:a@example.com"]],
    },
    allowed_origins: {
      good: [["https://example.com", "http://localhost:8080", "https://*.example.com"], null],
      bad: [
        [],
        ["*"],
        ["example.com"],
        ["https://example.com/"],
        ["https://a.*.com"],
        ["https://a@b"],
        ["https://Shop.example.com"],
        [null],
      ],
    },
    evidence_threshold: { good: [0, 1], bad: [-0.01, 1.01, "NaN"] },
    evidence_confidence: { good: [0, 1], bad: [-0.01, 1.01, "NaN"] },
    match_count: { good: [1, 50], bad: [0, 51] },
    link_mode: { good: ["authenticated", "public", "none"], bad: ["", "Public", "all"] },
    answer_mode: { good: ["endpoint", "on_device", "extractive"], bad: ["", "generated", "Endpoint"] },
    refusal_message: { good: ["a".repeat(1000), null], bad: ["", " \n", "a".repeat(1001)] },
    refusal_suggestions: {
      good: [[], ["a".repeat(200), "b", "c", "d", "e"], null],
      bad: [[" "], [null], ["a".repeat(201)], ["a", "b", "c", "d", "e", "f"]],
    },
    support_url: {
      good: [`https://${"a".repeat(492)}`, "mailto:a@example.com", "HTTPS://example.com", null],
      bad: [
        "",
        "https://",
        "http://example.com",
        "javascript:alert(1)",
        "x https://a",
        "https://a b",
        "https://a\n",
        "a@b.c",
      ].concat(`https://${"a".repeat(493)}`),
    },
    greeting: { good: ["a".repeat(500), null], bad: ["", "\t", "a".repeat(501)] },
    suggested_questions: {
      good: [[], ["é".repeat(200), "b", "c", "d", "e", "f"]],
      bad: [[""], [null], ["a".repeat(201)], ["a", "b", "c", "d", "e", "f", "g"]],
    },
  };
  for (const [column, { good, bad }] of Object.entries(limits)) {
    test(`${column} is checked, with inclusive limits`, async () => {
      for (const value of good) {
        const { status, body } = await change({ [column]: value });
        assert.equal(status, 200, JSON.stringify([value, body]));
        if (column === "name") await service.update("assistants", "name=not.is.null", { name: "default" });
      }
      for (const value of bad) {
        const { status, body } = await change({ [column]: value });
        assert.ok(status >= 400, JSON.stringify(value));
        assert.match(body.message, new RegExp(`assistants_${column}_`));
      }
    });
  }

  test("nested lists are rejected as suggestions", async () => {
    await assert.rejects(
      database.query("update assistants set refusal_suggestions = '{{a},{b}}'"),
      /assistants_refusal_suggestions_/,
    );
  });

  test("a second row is rejected", async () => {
    assert.match((await service.insert("chat_settings", { gap_users: 3 })).body.message, /chat_settings_pkey/);
    assert.match((await service.insert("chat_settings", { id: false })).body.message, /chat_settings_only_one_row/);
  });

  test("the model is that of the searchable document that changed last", async () => {
    const withModel = async (model, document) => {
      const { id, chunkIds } = await writeDocument(database, document);
      await database.query("update kb_embeddings set model = $1 where chunk_id = any($2)", [model, chunkIds]);
      return id;
    };
    await withModel("hidden", { enabled: false });
    await withModel("unfinished", { status: "pending" });
    assert.equal((await config()).model, null);

    await withModel("old", {});
    const newer = await withModel("new", {});
    assert.equal((await config()).model, "new");
    await withModel("hidden", { enabled: false });
    await writeDocument(database, { similarities: [] });
    await writeDocument(database, { similarities: [null] });
    assert.equal((await config()).model, "new");
    await service.update("kb_documents", `id=eq.${newer}`, { enabled: false });
    assert.equal((await config()).model, "old");
  });
}

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";
import { as, become, SERVICE, user } from "../support/roles.mjs";

/** The audit trail. */
export function changes({ database }) {
  const admin = user(randomUUID(), { app_metadata: { evidence_chat: "administrator" } });
  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;
  /** As the caller, and not rolled back. */
  const write = (caller, sql, ...parameters) =>
    database.transaction(async (transaction) => {
      await become(transaction, caller);
      await transaction.query(sql, parameters);
    });
  const read = (call = "chat_insights_changes()", caller = admin) =>
    as(database, caller, async (transaction) => (await transaction.query(`select * from ${call}`)).rows);
  const trail = async () =>
    (await read()).map((row) => [row.relation, row.name, row.operation, row.column_name, row.old_value, row.new_value]);
  const forget = () => run("delete from internal.chat_changes");

  beforeEach(forget);
  afterEach(async () => {
    await clearKnowledgeBase(database);
    await run("delete from assistants where name <> 'default'");
    await run("update assistants set title = null, citations = true");
    await run("update chat_settings set gap_users = 2, alert_url = null");
    await forget();
  });

  test("records each changed column of a setting with its values, by whom and when", async () => {
    await write(SERVICE, "update chat_settings set gap_users = 3, log_questions = log_questions");
    await run("update assistants set title = 'Help', citations = false");
    assert.deepEqual(await trail(), [
      ["assistants", "default", "update", "title", null, "Help"],
      ["assistants", "default", "update", "citations", true, false],
      ["chat_settings", "settings", "update", "gap_users", 2, 3],
    ]);
    const rows = await read();
    assert.match(rows[0].changed_by, /^database:/);
    assert.equal(rows[2].changed_by, "key:service_role");
    assert.ok(Date.now() - new Date(rows[2].changed_at).getTime() < 60_000);
  });

  test("names the user who changed something", async () => {
    // What a function does that lets administrators write settings.
    await write({ role: "service_role", claims: admin.claims }, "update chat_settings set gap_users = 4");
    const { sub } = /** @type {any} */ (admin.claims);
    assert.equal((await read())[0].changed_by, `user:${sub}`);
  });

  test("an update that changes nothing, and a new text of a document, leave no trace", async () => {
    const { id } = await writeDocument(database, { source: "guide/a.md" });
    await run("update chat_settings set gap_users = gap_users");
    await run("update kb_documents set name = 'other.md', enabled = enabled where id = $1", id);
    assert.deepEqual(await trail(), []);
  });

  test("records who may see a document, and that it was deleted, but not unpublished versions", async () => {
    const { id } = await writeDocument(database, { source: "guide/a.md" });
    const pending = await writeDocument(database, { source: "guide/a.md", status: "pending" });
    await run("update kb_documents set enabled = false, audience = '{team:sales}' where id = $1", id);
    await run("delete from kb_documents where id = $1", pending.id);
    await run("delete from kb_documents where id = $1", id);
    assert.deepEqual(await trail(), [
      ["kb_documents", "guide/a.md", "delete", null, null, null],
      ["kb_documents", "guide/a.md", "update", "enabled", true, false],
      ["kb_documents", "guide/a.md", "update", "audience", null, ["team:sales"]],
    ]);
  });

  test("records added, renamed and deleted assistants", async () => {
    await run("insert into assistants (name) values ('shop')");
    await run("update assistants set name = 'store' where name = 'shop'");
    await run("delete from assistants where name = 'store'");
    assert.deepEqual(await trail(), [
      ["assistants", "store", "delete", null, null, null],
      ["assistants", "shop", "update", "name", "shop", "store"],
      ["assistants", "shop", "insert", null, null, null],
    ]);
  });

  test("the address of a webhook, which may be a secret, is not recorded", async () => {
    await run("update chat_settings set alert_url = 'https://hooks.example/secret-token'");
    assert.deepEqual(await trail(), [["chat_settings", "settings", "update", "alert_url", null, null]]);
    assert.doesNotMatch(JSON.stringify(await run("select * from internal.chat_changes")), /secret-token/);
  });

  test("is read in pages, by administrators only, and written by nobody", async () => {
    for (const title of ["one", "two", "three"]) await run("update assistants set title = $1", title);
    const [newest, second] = await read("chat_insights_changes(2)");
    assert.deepEqual([newest.new_value, second.new_value], ["three", "two"]);
    const rest = await read(`chat_insights_changes(100, ${second.id})`);
    assert.deepEqual(
      rest.map((row) => row.new_value),
      ["one"],
    );
    for (const count of ["-1", "null", "0"]) assert.ok(Array.isArray(await read(`chat_insights_changes(${count})`)));
    await assert.rejects(read("chat_insights_changes()", user(randomUUID())), { code: "42501" });
    await assert.rejects(write(SERVICE, "delete from internal.chat_changes where true"), { code: "42501" });
  });

  test("chat_retain deletes changes that are older than 400 days", async () => {
    await run("update assistants set title = 'old'");
    await run("update internal.chat_changes set changed_at = now() - interval '401 days'");
    await run("update assistants set title = 'new'");
    await run("select chat_retain()");
    assert.deepEqual(
      (await trail()).map((row) => row.at(-1)),
      ["new"],
    );
  });
}

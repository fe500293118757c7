import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { ANON, as, become, SERVICE, user } from "../support/roles.mjs";

/** Columns that administrators may not change. */
const OWNERS = ["administrators", "default_audience", "alert_url", "log_questions", "id", "updated_at"];

/** What administrators may change, and what stays with the owner. */
export function administrators({ database }) {
  /** @type {import("../support/roles.mjs").Caller} */
  let admin;
  let visitor;

  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;
  /** Calls a function as a user and commits. */
  const call = (caller, sql, ...parameters) =>
    database.transaction(async (transaction) => {
      await become(transaction, caller);
      return (await transaction.query(sql, parameters)).rows;
    });
  const readAs = (caller) =>
    as(database, caller, async (transaction) => {
      const { rows } = await transaction.query("select chat_read_settings() as read");
      return rows[0].read;
    });
  const read = () => readAs(admin);
  const assistant = async (name = "default") => (await read()).assistants.find((row) => row.name === name);
  /** @typedef {{ name?: string, version?: string, caller?: import("../support/roles.mjs").Caller }} Options */
  /** @type {(changes: object, options?: Options) => Promise<any>} */
  const update = async (changes, { name = "default", version = undefined, caller = admin } = {}) =>
    call(
      caller,
      "select chat_update_assistant($1, $2, $3)",
      name,
      JSON.stringify(changes),
      version ?? (await assistant(name)).updated_at,
    );
  /** @type {(changes: object, options?: Options) => Promise<any>} */
  const updateSettings = async (changes, { version = undefined, caller = admin } = {}) =>
    call(
      caller,
      "select chat_update_settings($1, $2)",
      JSON.stringify(changes),
      version ?? (await read()).settings.updated_at,
    );
  const add = (name, changes = {}, caller = admin) =>
    call(caller, "select chat_add_assistant($1, $2)", name, JSON.stringify(changes));
  /** @type {(name: string, version?: string) => Promise<any>} */
  const remove = async (name, version) =>
    call(admin, "select chat_delete_assistant($1, $2)", name, version ?? (await assistant(name)).updated_at);
  /** The columns that an error of the functions names. */
  const rejects = async (promise, ...columns) => {
    await assert.rejects(promise, (/** @type {any} */ error) => {
      assert.equal(error.code, "PT422", error.message);
      assert.deepEqual(Object.keys(JSON.parse(error.detail)).sort(), columns.sort());
      return true;
    });
  };

  before(async () => {
    const [{ id }] = await run(
      "insert into auth.users (id, email) values (gen_random_uuid(), 'admin@administrators.example') returning id",
    );
    admin = user(id, { app_metadata: { evidence_chat: "administrator" } });
    visitor = user(randomUUID(), { app_metadata: { evidence_chat: "visitor" } });
  });
  afterEach(async () => {
    await database.exec(`
      delete from chat_sessions where title = 'of administrators.mjs';
      delete from assistants where name <> 'default';
      delete from assistants where name = 'default' and not exists (select from chat_sessions);
      insert into assistants (name) values ('default') on conflict do nothing;
      update assistants set title = null, match_count = null, citations = true, enabled = true;
      delete from chat_settings;
      insert into chat_settings default values;
      delete from internal.chat_changes`);
  });
  after(() => run("delete from auth.users where email like '%@administrators.example'"));

  test("only administrators call the functions, whatever they send", async () => {
    const version = (await read()).settings.updated_at;
    const calls = [
      ["select chat_read_settings()"],
      ["select chat_update_settings('{\"gap_users\": 3}', $1)", version],
      ["select chat_update_assistant('default', '{\"title\": \"x\"}', $1)", version],
      ["select chat_add_assistant('new')"],
      ["select chat_delete_assistant('default', $1)", version],
    ];
    for (const [sql, ...parameters] of calls) {
      for (const caller of [
        visitor,
        user(randomUUID()),
        user(randomUUID(), { user_metadata: { evidence_chat: "administrator" } }),
      ])
        await assert.rejects(call(caller, sql, ...parameters), {
          code: "42501",
          message: "Only administrators may do this.",
        });
      await assert.rejects(call(ANON, sql, ...parameters), { code: "42501", message: /^permission denied/ });
    }
    assert.equal((await read()).assistants.length, 1);
  });

  test("administrators have no rights on the tables, and read no secret", async () => {
    await run("update chat_settings set alert_url = 'https://hooks.example/secret-token'");
    for (const sql of [
      "select * from chat_settings",
      "select name from assistants",
      "update chat_settings set gap_users = 3",
      "update assistants set title = 'x'",
      "insert into assistants (name) values ('x')",
      "delete from assistants",
    ])
      await assert.rejects(call(admin, sql), { code: "42501", message: /^permission denied/ }, sql);
    const all = await read();
    assert.equal(all.settings.has_alert_url, true);
    assert.doesNotMatch(JSON.stringify(all), /secret-token/);
    for (const column of ["administrators", "default_audience", "alert_url", "log_questions"])
      assert.ok(!(column in all.settings), column);
    assert.deepEqual(await readAs(SERVICE), all);
  });

  test("every column of an assistant but its name can be read and changed, and the trail names the user", async () => {
    const values = {
      enabled: false,
      title: "Help",
      collections: ["handbook"],
      audience: ["team:support"],
      allowed_origins: ["https://shop.example.com"],
      evidence_threshold: 0.4,
      evidence_confidence: 1,
      match_count: 50,
      link_mode: "public",
      citations: false,
      answer_mode: "endpoint",
      refusal_message: "No.",
      refusal_suggestions: [],
      support_url: "mailto:help@example.com",
      greeting: "Hello",
      suggested_questions: ["How?", "Why?"],
    };
    const columns = await run(
      "select column_name from information_schema.columns where table_schema = 'public' and table_name = 'assistants'",
    );
    const names = columns.map(({ column_name: name }) => name).filter((name) => !["name", "updated_at"].includes(name));
    assert.deepEqual(names.sort(), Object.keys(values).sort());
    await add("shop", { enabled: false });
    await run("delete from internal.chat_changes");
    await update(values, { name: "shop" });
    const { name, updated_at: updatedAt, has_conversations: hasConversations, ...row } = await assistant("shop");
    assert.deepEqual([name, hasConversations, row], ["shop", false, values]);
    const trail = await run("select distinct changed_by, name from internal.chat_changes");
    const { sub } = /** @type {any} */ (admin.claims);
    assert.deepEqual(trail, [{ changed_by: `user:${sub}`, name: "shop" }]);
    assert.equal(
      (await run("select 1 from internal.chat_changes")).length,
      names.length - 1,
      "one entry for each change",
    );
    const nulls = Object.fromEntries(names.map((column) => [column, null]));
    await rejects(
      update(nulls, { name: "shop", version: updatedAt }),
      "enabled",
      "citations",
      "link_mode",
      "answer_mode",
      "suggested_questions", // prettier-ignore
    );
    assert.deepEqual((await assistant("shop")).title, "Help", "nothing is written");
  });

  test("names all values that are not allowed, and writes none of the others", async () => {
    await rejects(
      update({
        title: "x".repeat(101),
        greeting: " ",
        evidence_threshold: 1.1,
        match_count: "many",
        link_mode: "all",
        allowed_origins: ["shop.example.com"],
        audience: ["email:me@example.com"],
        suggested_questions: Array(7).fill("How?"),
        refusal_message: "fine",
        name: "other",
        updated_at: "2020-01-01",
        no_such_column: 1,
      }),
      "title",
      "greeting",
      "evidence_threshold",
      "match_count",
      "link_mode",
      "allowed_origins",
      "audience", // prettier-ignore
      "suggested_questions",
      "name",
      "updated_at",
      "no_such_column", // prettier-ignore
    );
    assert.equal((await assistant()).refusal_message, null);
    for (const changes of ["[]", "1", "null", '"title"'])
      await assert.rejects(
        call(admin, "select chat_update_assistant('default', $1, $2)", changes, (await assistant()).updated_at),
        { code: "22023" },
        changes,
      );
  });

  test("accepts what is exactly at a limit", async () => {
    for (const changes of [
      { title: "é".repeat(100), greeting: "é".repeat(500), refusal_message: "é".repeat(1000) },
      { evidence_threshold: 0, evidence_confidence: 1, match_count: 1 },
      { evidence_threshold: 1, evidence_confidence: 0, match_count: 50 },
      { suggested_questions: Array(6).fill("é".repeat(200)), audience: null, allowed_origins: null, collections: null },
    ]) {
      await update(changes);
      const saved = await assistant();
      assert.deepEqual({ ...saved, ...changes }, saved);
    }
    for (const changes of [
      { match_count: 51 },
      { match_count: 0 },
      { match_count: 1e12 },
      { evidence_confidence: -0.01 },
    ])
      await rejects(update(changes), ...Object.keys(changes));
    await update({
      suggested_questions: [],
      evidence_threshold: null,
      evidence_confidence: null,
      greeting: null,
      refusal_message: null,
    });
  });

  test("a change that is based on an old version writes nothing", async () => {
    const { updated_at: version } = await assistant();
    await update({ title: "Mine" }, { version });
    await assert.rejects(update({ title: "Yours" }, { version }), { code: "PT409" });
    await assert.rejects(remove("default", version), { code: "PT409" });
    assert.equal((await assistant()).title, "Mine");
    const { updated_at: settings } = (await read()).settings;
    await run("update chat_settings set gap_users = 5");
    await assert.rejects(updateSettings({ gap_users: 6 }, { version: settings }), { code: "PT409" });
    await assert.rejects(
      call(admin, "select chat_update_settings('{}', null)"),
      { code: "PT409" },
      "a version must be named",
    );
    assert.equal((await read()).settings.gap_users, 5);
    await assert.rejects(update({}, { name: "nobody", version }), { code: "PT404" });
  });

  test("the owner's settings stay with the owner", async () => {
    const before = await run("select * from chat_settings");
    for (const column of OWNERS)
      for (const value of [null, "x", ["role:authenticated"], true])
        await rejects(updateSettings({ [column]: value }), column);
    assert.deepEqual(await run("select * from chat_settings"), before);
  });

  test("administrators make the protection of visitors stricter and never looser", async () => {
    await run("update chat_settings set gap_users = 3, keep_refusals = 'anonymous', retention_days = 90");
    for (const changes of [
      { gap_users: 2 },
      { keep_refusals: "full" },
      { retention_days: 91 },
      { retention_days: null },
      { anonymous_retention_days: 31 },
      { anonymous_retention_days: null },
      { retention_days: 0 },
      { gap_users: 1001 },
    ])
      await rejects(updateSettings(changes), ...Object.keys(changes));
    const changes = { gap_users: 4, keep_refusals: "off", retention_days: 89, anonymous_retention_days: 1 };
    await updateSettings({ ...changes, alert_answered_share: 0.5, alert_cited_share: 1 });
    const { settings } = await read();
    assert.deepEqual({ ...settings, ...changes, alert_answered_share: 0.5, alert_cited_share: 1 }, settings);
    await updateSettings({ alert_answered_share: null, alert_cited_share: null });
    await run("update chat_settings set retention_days = null, anonymous_retention_days = null");
    await updateSettings({ retention_days: 36500 });
    await rejects(updateSettings({ gap_users: 3, retention_days: null }), "gap_users", "retention_days");
  });

  test("without the row of settings, the functions say how the owner adds it", async () => {
    await run("delete from chat_settings");
    assert.equal((await read()).settings, null);
    await assert.rejects(updateSettings({}, { version: new Date().toISOString() }), {
      code: "PT404",
      hint: /insert into/,
    });
  });

  test("adds an assistant once, under a valid name only", async () => {
    await add("shop", { enabled: false, title: "Shop" });
    assert.deepEqual([(await assistant("shop")).enabled, (await assistant("shop")).title], [false, "Shop"]);
    await rejects(add("shop"), "name");
    for (const name of ["Shop", "", "-a", "a_b", "a".repeat(64), null]) await rejects(add(name), "name");
    await rejects(add("other", { title: "" }), "title");
    assert.equal(await assistant("other"), undefined, "it is not added with settings that are not allowed");
  });

  test("deletes an assistant without conversations, and never the default one", async () => {
    await add("shop");
    await add("staff");
    const { sub } = /** @type {any} */ (admin.claims);
    await run(
      "insert into chat_sessions (user_id, assistant, title) values ($1, 'staff', 'of administrators.mjs')",
      sub,
    );
    assert.equal((await assistant("staff")).has_conversations, true);
    await rejects(remove("staff"), "name");
    await rejects(remove("default"), "name");
    await remove("shop");
    assert.deepEqual(
      (await read()).assistants.map(({ name }) => name),
      ["default", "staff"],
    );
  });
}

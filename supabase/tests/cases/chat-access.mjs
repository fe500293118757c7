import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { before, test } from "node:test";
import { assertDenied } from "../support/assert-denied.mjs";

/** Access to conversations. */
export function chatAccess({ database, anon, alice, bob, service }) {
  let session;
  let message;

  const open = async ({ id }, title) => (await service.insert("chat_sessions", { user_id: id, title })).body[0];
  const say = async (...messages) => (await service.insert("chat_messages", messages)).body;

  before(async () => {
    session = await open(alice, "Refunds");
    [message] = await say({ session_id: session.id, role: "user", content: "Hello?" });
  });

  test("a user cannot create a session without chat_record_turn, not even their own", async () => {
    for (const row of [{ title: "Forged", user_id: alice.id }, { title: "Mine" }]) {
      assertDenied(await bob.insert("chat_sessions", row), 403, "chat_sessions");
    }
  });

  test("a user cannot give a session to another user", async () => {
    const { status } = await alice.update("chat_sessions", `id=eq.${session.id}`, { user_id: bob.id });
    assert.equal(status, 403);
  });

  test("a user reads their own sessions and messages", async () => {
    assert.deepEqual(
      (await alice.select("chat_sessions")).body.map((row) => row.id),
      [session.id],
    );
    assert.deepEqual(
      (await alice.select("chat_messages")).body.map((row) => row.id),
      [message.id],
    );
  });

  for (const table of ["chat_sessions", "chat_messages"]) {
    test(`another user sees nothing in ${table}`, async () => {
      assert.deepEqual((await bob.select(table)).body, []);
    });

    test(`anon may not read ${table}`, async () => assertDenied(await anon.select(table), 401, table));

    test(`another user and anon cannot change or delete rows of ${table}`, async () => {
      const before = (await service.select(table)).body;
      for (const client of [bob, anon]) {
        await client.update(
          table,
          "id=not.is.null",
          table === "chat_sessions" ? { title: "Taken" } : { content: "Taken" },
        );
        await client.remove(table, "id=not.is.null");
      }
      assert.deepEqual((await service.select(table)).body, before);
    });

    test(`the service role sees all of ${table}`, async () => {
      assert.equal((await service.select(table)).body.length, 1);
    });
  }

  test("a user cannot write or delete a message without chat_record_turn, not even in their own session", async () => {
    for (const client of [alice, bob]) {
      for (const role of ["user", "assistant"]) {
        const row = { session_id: session.id, role, content: "Intruder" };
        assertDenied(await client.insert("chat_messages", row), 403, "chat_messages");
      }
      assertDenied(await client.remove("chat_messages", `id=eq.${message.id}`), 403, "chat_messages");
    }
  });

  test("anon can create neither a session nor a message", async () => {
    assert.equal((await anon.insert("chat_sessions", { title: "Anon", user_id: alice.id })).status, 401);
    const row = { session_id: session.id, role: "user", content: "Anon" };
    assert.equal((await anon.insert("chat_messages", row)).status, 401);
  });

  test("not even its owner can edit a message", async () => {
    const change = { content: "Never said that" };
    assertDenied(await alice.update("chat_messages", `id=eq.${message.id}`, change), 403, "chat_messages");
    assert.equal((await alice.select("chat_messages", `id=eq.${message.id}`)).body[0].content, "Hello?");
  });

  test("question and answer written in one request keep their order", async () => {
    const rows = ["user", "assistant"].map((role) => ({ session_id: session.id, role, content: role }));
    const written = await say(...rows);
    assert.ok(written[0].created_at < written[1].created_at, `${written[0].created_at} < ${written[1].created_at}`);
    await service.remove("chat_messages", `id=in.(${written.map((row) => row.id)})`);
  });

  test("a new message advances its session's updated_at", async () => {
    const [old] = (await alice.select("chat_sessions", `id=eq.${session.id}`)).body;
    await say({ session_id: session.id, role: "assistant", content: "Hi" });
    const [touched] = (await alice.select("chat_sessions", `id=eq.${session.id}`)).body;
    assert.ok(touched.updated_at > old.updated_at);
  });

  test("renaming a session does not change its updated_at", async () => {
    const [old] = (await alice.select("chat_sessions", `id=eq.${session.id}`)).body;
    const { status, body } = await alice.update("chat_sessions", `id=eq.${session.id}`, { title: "Renamed" });
    assert.equal(status, 200);
    assert.deepEqual(body, [{ ...old, title: "Renamed" }]);
  });

  for (const [column, value] of Object.entries({
    id: crypto.randomUUID(),
    created_at: "2000-01-01T00:00:00Z",
    updated_at: "2100-01-01T00:00:00Z",
  })) {
    test(`a user cannot change ${column} of their session, but the service role can`, async () => {
      const before = (await alice.select("chat_sessions", `id=eq.${session.id}`)).body;
      const change = { [column]: value };
      assertDenied(await alice.update("chat_sessions", `id=eq.${session.id}`, change), 403, "chat_sessions");
      assert.deepEqual((await alice.select("chat_sessions", `id=eq.${session.id}`)).body, before);
      const other = await open(alice, "Other");
      assert.equal((await service.update("chat_sessions", `id=eq.${other.id}`, change)).body.length, 1);
      await alice.remove("chat_sessions", `title=eq.Other`);
    });
  }

  test("a new message sets its session's updated_at to its own time, and deleting it does not reset it", async () => {
    const [added] = await say({ session_id: session.id, role: "user", content: "Again" });
    const [{ updated_at }] = (await alice.select("chat_sessions", `id=eq.${session.id}`)).body;
    assert.equal(updated_at, added.created_at);
    await service.remove("chat_messages", `id=eq.${added.id}`);
    const [afterwards] = (await alice.select("chat_sessions", `id=eq.${session.id}`)).body;
    assert.equal(afterwards.updated_at, updated_at);
  });

  test("listing a user's sessions page by page uses one index", async () => {
    await database.query(
      "insert into chat_sessions (user_id, updated_at) select $1, now() - n * interval '1 s' from generate_series(1, 2000) n",
      [bob.id],
    );
    await database.exec("analyze chat_sessions");
    const { rows } = await database.query(
      `explain select id from chat_sessions
        where user_id = $1 and assistant = 'default' and updated_at <= now() and (updated_at < now() or id < $2)
        order by updated_at desc, id desc limit 20`,
      [bob.id, session.id],
    );
    const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
    await service.remove("chat_sessions", `user_id=eq.${bob.id}`);
    assert.match(plan, /Index (Only )?Scan using chat_sessions_user_newest_idx/);
    assert.doesNotMatch(plan, /Sort/);
  });

  test("deleting a session deletes its messages", async () => {
    const other = await open(alice, "Other");
    await say({ session_id: other.id, role: "user", content: "Gone soon" });
    await alice.remove("chat_sessions", `id=eq.${other.id}`);
    assert.deepEqual((await service.select("chat_messages", `session_id=eq.${other.id}`)).body, []);
  });

  /** Columns that an export leaves out, and why. */
  const NOT_EXPORTED = {
    chat_sessions: { user_id: "the user themselves" },
    chat_messages: { from_worker: "for statistics" },
    chat_refusals: {
      user_id: "the user themselves",
      embedding: "computed from the question",
      group_id: "would reveal what others ask",
      asker: "the same",
      from_worker: "for statistics",
    },
  };
  test("an export has every column of the user's rows but those that are listed here", async () => {
    const source = async (file) =>
      readFile(new URL(`../../../edge-chat/src/supabase/${file}`, import.meta.url), "utf8");
    const code = (await source("sessions.rs")) + (await source("export.rs"));
    const exported = (name) => new RegExp(`const ${name}: &str =\\s*"([^"]+)"`).exec(code)?.[1] ?? assert.fail(name);
    for (const [table, constant] of [
      ["chat_sessions", "COLUMNS"],
      ["chat_messages", "EXPORTED_COLUMNS"],
      ["chat_refusals", "REFUSED_COLUMNS"],
    ]) {
      const { rows } = await database.query(
        "select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1",
        [table],
      );
      const columns = exported(constant);
      assert.deepEqual(
        [...columns.split(","), ...Object.keys(NOT_EXPORTED[table])].sort(),
        rows.map(({ name }) => name).sort(),
        table,
      );
      assert.equal((await alice.select(table, `select=${columns}`)).status, 200);
    }
  });
}

// The statements for the SQL editor in docs/privacy.md and docs/deploy.md, run as the owner of a project, who is not a superuser.
import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { applyPendingMigrations, MIGRATIONS_DIR } from "../../local/supabase/migrations.mjs";
import { writeDocument } from "./support/knowledge-base.mjs";
import { UnavailableError } from "./support/native-postgres.mjs";
import { startNativeProject } from "./support/start.mjs";
import { createTemporaryFolder } from "./support/temporary-folder.mjs";

const native = await startNativeProject().catch((error) => {
  if (error instanceof UnavailableError) return error;
  throw error;
});

if (native instanceof UnavailableError)
  test("statements in the documentation", { skip: `platform: ${native.message}` }, () => {});
else describe("statements in the documentation", () => statements(native));

/** The statements in a file that contain these words. */
async function documented(file, words) {
  const text = await readFile(new URL(`../../docs/${file}`, import.meta.url), "utf8");
  const blocks = Array.from(text.matchAll(/^ *```sql\n([^]*?)^ *```$/gm), ([, sql]) => sql);
  const found = blocks.filter((sql) => sql.includes(words));
  assert.equal(found.length, 1, words);
  return found[0];
}

function statements(/** @type {Awaited<ReturnType<typeof startNativeProject>>} */ native) {
  const { database } = native;
  const ids = {};
  const first = async (sql, parameters) => (await database.query(sql, parameters)).rows[0];
  const vector = `[${[1, ...Array(383).fill(0)].join()}]`;

  before(async () => {
    for (const name of ["alice", "bob"]) {
      const { id } = await first("insert into auth.users (email) values ($1) returning id", [`${name}@example.com`]);
      ids[name] = id;
      for (const question of [
        `What does ${name} owe?`,
        name === "alice" ? "Is 4111 1111 declined?" : "Is it declined?",
      ]) {
        const session = await first(
          "insert into public.chat_sessions (user_id, title) values ($1, 'A title') returning id",
          [id],
        );
        await database.query("insert into public.chat_messages (session_id, role, content) values ($1, 'user', $2)", [
          session.id,
          question,
        ]);
        await database.query(
          "insert into public.chat_refusals (user_id, session_id, question, embedding, reason) values ($1, $2, $3, $4, 'no_match')",
          [id, session.id, question, vector],
        );
      }
    }
    await database.query(
      "insert into public.chat_refusals (question, embedding, reason) values ('4111 1111 was declined', $1, 'no_match')",
      [vector],
    );
  });
  after(() => native.close());

  test("a request for data gets all that is stored of this user, and nothing of another", async () => {
    const sql = (await documented("privacy.md", "USER-ID")).replace("USER-ID", ids.alice);
    const data = JSON.parse((await first(sql)).jsonb_pretty);
    assert.equal(data.conversations.length, 2);
    assert.deepEqual(
      [data.messages.map(({ content }) => content), data.refused_questions.map(({ question }) => question)].map((all) =>
        all.sort(),
      ),
      Array(2).fill(["Is 4111 1111 declined?", "What does alice owe?"]),
    );
    assert.ok(!JSON.stringify(data).includes(ids.bob));
  });

  test("a text is erased from conversations and refused questions, also from anonymous ones, and nothing else is", async () => {
    const sql = (await documented("privacy.md", "THE TEXT")).replace("THE TEXT", "4111 1111");
    const { conversations, refused_questions: refused } = await first(sql);
    assert.deepEqual([Number(conversations), Number(refused)], [1, 2]);
    const left = await database.query(
      "select m.content, r.question from public.chat_messages m join public.chat_refusals r using (session_id) order by 1",
    );
    assert.deepEqual(
      left.rows.map(({ content, question }) => [content, question]),
      ["Is it declined?", "What does alice owe?", "What does bob owe?"].map((text) => [text, text]),
    );
  });

  test("a copy restores into another project: documents with their audience, settings, accounts and conversations", async (t) => {
    await writeDocument(database, {
      name: "hidden.md",
      enabled: false,
      audience: ["team:hr"],
      contents: ["Salaries."],
    });
    await database.query("update public.chat_settings set retention_days = 77");
    // The options that `supabase db dump --data-only --use-copy --schema public,internal,auth --dry-run` prints.
    const data = await native.server.run("pg_dump", [
      ...["--data-only", "--quote-all-identifier", "--exclude-schema", ""],
      ...["auth.schema_migrations", "storage.migrations"].flatMap((table) => ["--exclude-table", table]),
      ...["--schema", "public|internal|auth", "tests"],
    ]);
    const { folder, remove } = await createTemporaryFolder();
    t.after(remove);
    const file = path.join(folder, "data.sql");
    await writeFile(file, `SET session_replication_role = replica;\n${data}\nRESET ALL;\n`);

    const restored = await (await native.server.createProject("restored")).connect();
    t.after(async () => {
      await restored.close();
      // Its tables use the role that the next test drops.
      await native.server.run("psql", ["-c", "drop database restored", "postgres"]);
    });
    await applyPendingMigrations(restored, MIGRATIONS_DIR);
    await restored.exec(await documented("deploy.md", "'truncate '"));
    await native.server.run("psql", ["--single-transaction", "-v", "ON_ERROR_STOP=1", "-q", "-f", file, "restored"]);

    const all = async (session) => {
      const { rows } = await session.query(`select relnamespace::regnamespace || '.' || relname as name from pg_class
        where relkind = 'r' and relnamespace in ('public'::regnamespace, 'internal'::regnamespace, 'auth'::regnamespace) order by 1`);
      const contents = rows.map(async ({ name }) => {
        const { rows } = await session.query(`select to_jsonb(t) as row from ${name} t order by t::text`);
        return [name, rows.map(({ row }) => row)];
      });
      return Object.fromEntries(await Promise.all(contents));
    };
    const copy = await all(restored);
    assert.deepEqual(copy, await all(database));
    assert.deepEqual([copy["public.kb_documents"].length, copy["public.chat_settings"][0].retention_days], [1, 77]);
    const health = await restored.query(
      "select * from internal.access_snapshot() except select * from internal.expected_access",
    );
    assert.deepEqual(health.rows, []);
  });

  test("removing the product leaves nothing of it and everything else, and it can be installed again", async () => {
    await database.exec(
      "create table public.orders (id int); create function public.total() returns int language sql as 'select 1'",
    );
    await database.exec(await documented("deploy.md", "drop schema internal cascade"));
    const { rows } = await database.query(`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S')
      union all select proname from pg_proc where pronamespace = 'public'::regnamespace
      union all select nspname from pg_namespace where nspname = 'internal'
      union all select rolname from pg_roles where rolname = 'evidence_chat'
      union all select polname from pg_policy
      union all select tgname from pg_trigger where not tgisinternal
      union all select version from supabase_migrations.schema_migrations order by 1`);
    assert.deepEqual(
      rows.map(({ name }) => name),
      ["orders", "total"],
    );
    assert.equal((await database.query("select from auth.users")).rows.length, 2);
    const applied = await applyPendingMigrations(database, MIGRATIONS_DIR);
    assert.equal(applied.length, (await readdir(MIGRATIONS_DIR)).length);
  });
}

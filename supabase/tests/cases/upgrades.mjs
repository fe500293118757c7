import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { applyPendingMigrations } from "../../local/src/migrations.mjs";
import { embeddingWithSimilarity, lexemeCounts, QUERY } from "../support/knowledge-base.mjs";
import { become, user } from "../support/roles.mjs";

/** What each table holds in every version that has it, beside what triggers keep. */
const CONTENTS = {
  kb_documents: "id, source, name, status, enabled, content_hash, storage_path, meta, created_at, updated_at",
  kb_chunks: "id, document_id, ordinal, content, meta",
  kb_embeddings: "chunk_id, embedding::text, model",
  kb_sentences: 'chunk_id, ordinal, start, "end", embedding::text',
  chat_sessions: "id, user_id, title, created_at, updated_at",
  chat_messages: "id, session_id, role, content, citations, created_at",
  chat_refusals: "id, user_id, session_id, question, embedding::text, reason",
  chat_settings: "evidence_threshold, greeting",
};

/**
 * From every version with data in it to the newest. Each is tried in a transaction that is rolled back, on a database that
 * then goes one migration further.
 * @param {{ database: () => import("@electric-sql/pglite").PGlite, folder: string }} options a database without migrations
 */
export function upgrades({ database, folder }) {
  const files = readdirSync(folder).sort();
  let reached;
  before(async () => {
    reached = await mkdtemp(path.join(tmpdir(), "supabase-upgrades-"));
  });
  after(() => rm(reached, { recursive: true, force: true }));

  for (const [index, file] of files.entries()) {
    test(`from ${index === 0 ? "nothing" : `the version of ${files[index - 1]}`}`, async () => {
      await database().transaction(async (transaction) => {
        const inside = {
          ...transaction,
          query: transaction.query.bind(transaction),
          exec: transaction.exec.bind(transaction),
        };
        inside.transaction = (body) => body(inside);
        await populate(inside);
        const contents = await contentsOf(inside);
        assert.deepEqual(await applyPendingMigrations(inside, folder), files.slice(index));
        assert.deepEqual(await contentsOf(inside, Object.keys(contents)), contents);
        await assertWorks(inside, contents);
        await transaction.rollback();
      });
      await copyFile(path.join(folder, file), path.join(reached, file));
      assert.deepEqual(await applyPendingMigrations(database(), reached), [file]);
    });
  }

  test("at the newest version there is nothing to do", async () => {
    assert.deepEqual(await applyPendingMigrations(database(), folder), []);
  });
}

async function tablesOf(database) {
  const { rows } = await database.query(
    "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  return new Set(rows.map((row) => row.relname));
}

/** Documents in every state, a history and a refused question, as far as the version has tables for them. */
async function populate(database) {
  const tables = await tablesOf(database);
  if (!tables.has("kb_documents")) return;
  for (const [name, status, enabled] of [
    ["visible", "ready", true],
    ["disabled", "ready", false],
    ["pending", "pending", true],
    ["failed", "failed", true],
  ]) {
    const [document, chunk] = [randomUUID(), randomUUID()];
    await database.query(
      `insert into kb_documents (id, source, name, status, enabled, content_hash, storage_path, meta)
       values ($1, $2, $2, $3, $4, 'hash', $5, '{"title": "Title"}')`,
      [document, `${name}.md`, status, enabled, `${document}/file.md`],
    );
    await database.query(
      `insert into kb_chunks (id, document_id, ordinal, content, meta)
       values ($1, $2, 0, 'Two kettles are hot', '{"section": "Kitchen"}')`,
      [chunk, document],
    );
    await database.query("insert into kb_embeddings (chunk_id, embedding, model) values ($1, $2, 'test')", [
      chunk,
      embeddingWithSimilarity(0.9),
    ]);
    if (tables.has("kb_sentences")) {
      await database.query(
        'insert into kb_sentences (chunk_id, ordinal, start, "end", embedding) values ($1, 0, 0, 11, $2)',
        [chunk, embeddingWithSimilarity(0.8)],
      );
    }
  }
  if (!tables.has("chat_messages")) return;
  const [userId, session, refused] = [randomUUID(), randomUUID(), randomUUID()];
  await database.query("insert into auth.users (id, email) values ($1, 'upgrade@example.com')", [userId]);
  await database.query("insert into chat_sessions (id, user_id, title) values ($1, $2, 'Kettles')", [session, userId]);
  const say = (id, role, content, citations) =>
    database.query("insert into chat_messages (session_id, id, role, content, citations) values ($1, $2, $3, $4, $5)", [
      session,
      id,
      role,
      content,
      JSON.stringify(citations),
    ]);
  const { rows } = await database.query("select id from kb_documents where source = 'visible.md'");
  await say(randomUUID(), "user", "Is it hot?", []);
  await say(randomUUID(), "assistant", "It is.", [{ document_id: rows[0].id }, { title: "No id" }]);
  await say(refused, "user", "Who?", []);
  await say(randomUUID(), "assistant", "I do not know.", []);
  const { rows: noted } = await database.query(
    "select from pg_attribute where attrelid = 'chat_messages'::regclass and attname = 'refusal'",
  );
  if (noted.length > 0) {
    await database.query("update chat_messages set refusal = 'no_match' where content = 'I do not know.'");
  }
  if (tables.has("chat_refusals")) {
    await database.query(
      "insert into chat_refusals (id, user_id, session_id, question, embedding, reason) values ($1, $2, $3, 'Who?', $4, 'no_match')",
      [refused, userId, session, QUERY],
    );
  }
  if (tables.has("chat_settings")) {
    await database.query("update chat_settings set evidence_threshold = 0.4, greeting = 'Hello'");
  }
}

async function contentsOf(database, tables) {
  const present = tables ?? [...(await tablesOf(database))].filter((table) => table in CONTENTS);
  const contents = {};
  for (const table of present) {
    contents[table] = (await database.query(`select ${CONTENTS[table]} from ${table} order by 1, 2`)).rows;
  }
  return contents;
}

async function assertWorks(database, contents) {
  const { kept, counted } = await lexemeCounts(database);
  assert.deepEqual(kept, counted);
  const { rows } = await database.query("select kb_health() as health");
  const { health } = rows[0];
  assert.deepEqual([health.embeddings_not_searchable_mismatch, health.lexeme_mismatch], [0, false]);
  assert.deepEqual(health.missing_policies, []);
  assert.ok(health.indexes.every((index) => index.valid));

  const metrics = (await database.query("select answers::int, refusals::int, cited_documents::int from chat_metrics"))
    .rows;
  const isNoted = "chat_refusals" in contents;
  const expected = { answers: isNoted ? 1 : 2, refusals: isNoted ? 1 : 0, cited_documents: 1 };
  assert.deepEqual(metrics, "chat_messages" in contents ? [expected] : []);

  const [reader] = contents.chat_sessions ?? [{ user_id: randomUUID() }];
  await become(database, user(reader.user_id));
  for (const text of [null, "kettle in the kitchen"]) {
    const found = (await database.query("select document_name from match_chunks($1, 5, 0.35, $2)", [QUERY, text])).rows;
    assert.deepEqual(found, "kb_documents" in contents ? [{ document_name: "visible.md" }] : []);
  }
  const history = (await database.query("select content from chat_messages")).rows;
  assert.equal(history.length, contents.chat_messages?.length ?? 0);
}

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument } from "../support/knowledge-base.mjs";
import { ANON, as, SERVICE, user } from "../support/roles.mjs";
import { newTurn, RECORD_TURN } from "../support/turn.mjs";

/**
 * What each role may do. A number is the count of rows read, written or returned; `denied`: the role lacks the privilege;
 * `refused`: a policy rejects the row; `ok`: a function that returns no rows ran.
 *
 * The knowledge base has four documents with one chunk each: one for everybody, one for team:sales, one disabled, one
 * pending. `sales` and `it` are users of those teams, `other` is in none, `admin` is an administrator. `sales` and `other` have a session each, with a
 * question, an answer from the document for everybody and one from the document for team:sales: `other` does not see the
 * latter. Writes go to the session of `sales`. Link mode is at its default, `none`.
 */
const MATRIX = `
  on                    operation  anon     sales    it       other    admin    service
  kb_documents          select     denied   denied   denied   denied   denied   4
  kb_documents          insert     denied   denied   denied   denied   denied   1
  kb_documents          update     denied   denied   denied   denied   denied   4
  kb_documents          delete     denied   denied   denied   denied   denied   4
  kb_chunks             select     denied   denied   denied   denied   denied   4
  kb_chunks             insert     denied   denied   denied   denied   denied   1
  kb_chunks             update     denied   denied   denied   denied   denied   4
  kb_chunks             delete     denied   denied   denied   denied   denied   4
  kb_embeddings         select     denied   denied   denied   denied   denied   4
  kb_embeddings         insert     denied   denied   denied   denied   denied   1
  kb_embeddings         update     denied   denied   denied   denied   denied   4
  kb_embeddings         delete     denied   denied   denied   denied   denied   4
  kb_sentences          select     denied   denied   denied   denied   denied   4
  kb_sentences          insert     denied   denied   denied   denied   denied   1
  kb_sentences          update     denied   denied   denied   denied   denied   4
  kb_sentences          delete     denied   denied   denied   denied   denied   4
  kb_headings           select     denied   denied   denied   denied   denied   4
  kb_headings           insert     denied   denied   denied   denied   denied   1
  kb_headings           update     denied   denied   denied   denied   denied   4
  kb_headings           delete     denied   denied   denied   denied   denied   4
  kb_lexemes            select     denied   denied   denied   denied   denied   5
  kb_lexemes            insert     denied   denied   denied   denied   denied   denied
  kb_lexemes            update     denied   denied   denied   denied   denied   denied
  kb_lexemes            delete     denied   denied   denied   denied   denied   denied
  kb_syncs              select     denied   denied   denied   denied   denied   1
  kb_syncs              insert     denied   denied   denied   denied   denied   1
  kb_syncs              update     denied   denied   denied   denied   denied   1
  kb_syncs              delete     denied   denied   denied   denied   denied   1
  kb_watches            select     denied   denied   denied   denied   denied   1
  kb_watches            insert     denied   denied   denied   denied   denied   1
  kb_watches            update     denied   denied   denied   denied   denied   1
  kb_watches            delete     denied   denied   denied   denied   denied   1
  kb_calibration        select     denied   denied   denied   denied   denied   1
  kb_calibration        insert     denied   denied   denied   denied   denied   1
  kb_calibration        update     denied   denied   denied   denied   denied   1
  kb_calibration        delete     denied   denied   denied   denied   denied   1
  chat_sessions         select     denied   1        0        1        0        2
  chat_sessions         insert     denied   denied   denied   denied   denied   1
  chat_sessions         update     denied   1        0        1        0        2
  chat_sessions         delete     denied   1        0        1        0        2
  chat_messages         select     denied   3        0        2        0        6
  chat_messages         insert     denied   denied   denied   denied   denied   1
  chat_messages         update     denied   denied   denied   denied   denied   6
  chat_messages         delete     denied   denied   denied   denied   denied   6
  chat_refusals         select     denied   1        0        1        0        2
  chat_refusals         insert     denied   denied   denied   denied   denied   1
  chat_refusals         update     denied   denied   denied   denied   denied   2
  chat_refusals         delete     denied   denied   denied   denied   denied   2
  chat_settings         select     denied   denied   denied   denied   denied   1
  chat_settings         insert     denied   denied   denied   denied   denied   1
  chat_settings         update     denied   denied   denied   denied   denied   1
  chat_settings         delete     denied   denied   denied   denied   denied   1
  assistants            select     denied   denied   denied   denied   denied   1
  assistants            insert     denied   denied   denied   denied   denied   1
  assistants            update     denied   denied   denied   denied   denied   1
  assistants            delete     denied   denied   denied   denied   denied   0
  chat_feedback         select     denied   denied   denied   denied   denied   0
  kb_overview           select     denied   denied   denied   denied   denied   4
  kb_troubles           select     denied   denied   denied   denied   denied   0
  storage.objects       select     0        0        0        0        0        5
  storage.objects       insert     refused  refused  refused  refused  refused  1
  storage.objects       update     0        0        0        0        0        5
  storage.objects       delete     0        0        0        0        0        5
  match_chunks          execute    denied   2        1        1        1        2
  chat_config           execute    ok       ok       ok       ok       ok       ok
  chat_record_turn      execute    denied   ok       refused  refused  refused  denied
  chat_record_refusal   execute    denied   ok       refused  refused  refused  denied
  chat_documents        execute    denied   2        1        1        1        denied
  chat_has_documents    execute    denied   ok       ok       ok       ok       denied
  chat_give_feedback    execute    denied   ok       ok       ok       ok       denied
  chat_delete_user_data execute    denied   ok       ok       ok       ok       denied
  chat_retain           execute    denied   denied   denied   denied   denied   ok
  chat_set_worker_secret execute   denied   denied   denied   denied   denied   ok
  kb_publish_document   execute    denied   denied   denied   denied   denied   ok
  kb_write_chunks       execute    denied   denied   denied   denied   denied   ok
  kb_write_vectors      execute    denied   denied   denied   denied   denied   1
  kb_set_enabled        execute    denied   denied   denied   denied   denied   ok
  kb_delete_documents   execute    denied   denied   denied   denied   denied   ok
  kb_note_failure       execute    denied   denied   denied   denied   denied   ok
  kb_recount_lexemes    execute    denied   denied   denied   denied   denied   ok
  kb_chunks_to_embed    execute    denied   denied   denied   denied   denied   3
  kb_begin_sync         execute    denied   denied   denied   denied   denied   ok
  kb_renew_sync         execute    denied   denied   denied   denied   denied   ok
  kb_end_sync           execute    denied   denied   denied   denied   denied   ok
  kb_report_watch       execute    denied   denied   denied   denied   denied   ok
  kb_health             execute    denied   denied   denied   denied   denied   ok
  kb_non_latin_documents execute   denied   denied   denied   denied   denied   0
  chat_insights         execute    denied   refused  refused  refused  2        2
  chat_insights_days    execute    denied   refused  refused  refused  30       30
  chat_insights_gaps    execute    denied   refused  refused  refused  1        1
  chat_insights_comments execute   denied   refused  refused  refused  0        0
  chat_insights_documents execute  denied   refused  refused  refused  2        2
  chat_insights_uncited execute    denied   refused  refused  refused  0        0
  chat_insights_health  execute    denied   refused  refused  refused  1        1
  chat_insights_assistants execute denied   refused  refused  refused  1        1
  chat_insights_changes execute    denied   refused  refused  refused  1        1
  chat_read_settings    execute    denied   refused  refused  refused  ok       ok
  chat_update_settings  execute    denied   refused  refused  refused  ok       ok
  chat_update_assistant execute    denied   refused  refused  refused  ok       ok
  chat_add_assistant    execute    denied   refused  refused  refused  ok       ok
  chat_delete_assistant execute    denied   refused  refused  refused  ok       ok
  chat_count_citation_use execute  denied   ok       ok       ok       ok       denied
  chat_check_alerts     execute    denied   denied   denied   denied   denied   ok
`;

/** Every table, view and function of the API, for every role and every operation. */
export function accessMatrix({ database }) {
  /** @type {Record<string, any>} */
  const ids = {};
  const who = {};
  let statements;

  before(async () => {
    await clearKnowledgeBase(database);
    for (const name of ["sales", "it", "other", "admin"]) ids[name] = await newUser(database, `${name}@matrix.example`);
    Object.assign(who, {
      anon: ANON,
      sales: user(ids.sales, { app_metadata: { team: "sales" } }),
      it: user(ids.it, { app_metadata: { team: "it" } }),
      other: user(ids.other),
      admin: user(ids.admin, { app_metadata: { evidence_chat: "administrator" } }),
      service: SERVICE,
    });
    const documents = await writeDocuments(database);
    await database.query("insert into storage.objects (bucket_id, name) values ('kb', 'nobody.pdf')");
    for (const name of ["sales", "other"]) ids[`${name}Session`] = await writeHistory(database, ids[name], documents);
    await database.query("insert into kb_syncs (collection, run_id) values ('folder', gen_random_uuid())");
    await database.query("insert into kb_watches (sources) values ('bucket')");
    await database.query(
      "insert into kb_calibration (model, language, mean, deviation, questions) values ('m', 'english', -4, 2, 80)",
    );
    const { rows } = await database.query(
      "select s.updated_at::text as settings, a.updated_at::text as default from chat_settings s, assistants a where a.name = 'default'",
    );
    statements = allStatements(ids, documents, rows[0]);
  });
  after(async () => {
    await clearKnowledgeBase(database);
    await database.exec(`
      delete from storage.objects;
      delete from kb_syncs;
      delete from kb_watches;
      delete from kb_calibration;
      delete from internal.chat_daily;
      delete from internal.chat_daily_latency;
      delete from internal.chat_daily_documents;
      delete from auth.users where email like '%@matrix.example'`);
  });

  const [[, , ...roles], ...lines] = MATRIX.trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/));

  for (const [name, operation, ...expected] of lines) {
    test(`${operation} on ${name} gives each role exactly what the matrix says`, async () => {
      const outcomes = [];
      for (const role of roles) outcomes.push(await outcome(database, who[role], statements[name][operation]));
      assert.deepEqual(Object.fromEntries(zip(roles, outcomes)), Object.fromEntries(zip(roles, expected)));
    });
  }

  test("the matrix lists every table, view and function of the public schema", async () => {
    const { rows } = await database.query(`
      select relname as name, relkind in ('r', 'p') as has_rows
        from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
      union all
      select proname, null from pg_proc
        where pronamespace = 'public'::regnamespace
          -- PGlite has no separate schema for extensions: they are here.
          and not exists (select from pg_depend d where d.objid = pg_proc.oid and d.deptype = 'e')`);
    const there = rows.flatMap(({ name, has_rows: hasRows }) => {
      const operations = { true: ["select", "insert", "update", "delete"], false: ["select"], null: ["execute"] };
      return operations[hasRows].map((operation) => `${operation} ${name}`);
    });
    const here = lines.map(([name, operation]) => `${operation} ${name}`).filter((line) => !line.includes("storage."));
    assert.deepEqual(here.sort(), there.sort());
  });

  test("no role of the API reads or writes a table of the schema internal", async () => {
    const { rows } = await database.query(`
      select relname as name, relrowsecurity as rls, array(
          select role from unnest(array['anon', 'authenticated', 'service_role']) as role
            where has_table_privilege(role, c.oid, 'select, insert, update, delete, truncate, references, trigger')
              or has_any_column_privilege(role, c.oid, 'select, insert, update, references')
        ) as roles
        from pg_class c where relnamespace = 'internal'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')`);
    const tables = [
      "chat_alerts",
      "chat_changes",
      "chat_daily",
      "chat_daily_documents",
      "chat_daily_latency",
      "chat_deleted_sessions",
      "chat_retention",
      "expected_access",
      "kb_restricted_documents",
      "refusal_salt",
      "usage",
      "worker_secrets",
    ];
    assert.deepEqual(
      rows.sort((a, b) => (a.name < b.name ? -1 : 1)),
      tables.map((name) => ({ name, rls: true, roles: [] })),
    );
  });

  test("no role of the API may call a trigger function", async () => {
    const { rows } = await database.query(`
      select proname from pg_proc p, unnest(array['anon', 'authenticated', 'service_role']) as role
        where pronamespace in ('public'::regnamespace, 'internal'::regnamespace) and prorettype = 'trigger'::regtype
          and has_function_privilege(role, p.oid, 'execute')`);
    assert.deepEqual(rows, []);
  });
}

async function newUser(database, email) {
  const { rows } = await database.query(
    "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id",
    [email],
  );
  return rows[0].id;
}

async function writeDocuments(database) {
  const kinds = {
    everybody: {},
    sales: { audience: ["team:sales"] },
    disabled: { enabled: false },
    pending: { status: "pending" },
  };
  const documents = {};
  for (const [kind, options] of Object.entries(kinds)) {
    const sentences = [[{ start: 0, end: 3, similarity: 0.5 }]];
    const storagePath = `${kind}.pdf`;
    documents[kind] = await writeDocument(database, { contents: ["Two words"], sentences, storagePath, ...options });
    await database.query("insert into kb_headings (chunk_id, embedding) values ($1, $2)", [
      documents[kind].chunkIds[0],
      QUERY,
    ]);
    await database.query("insert into storage.objects (bucket_id, name) values ('kb', $1)", [storagePath]);
  }
  return documents;
}

async function writeHistory(database, userId, /** @type {Record<string, any>} */ { everybody, sales }) {
  const session = randomUUID();
  await database.query("insert into chat_sessions (id, user_id) values ($1, $2)", [session, userId]);
  const citations = ({ id }) => JSON.stringify([{ index: 1, document_id: id }]);
  await database.query(
    `insert into chat_messages (session_id, role, content, citations, from_worker) values
       ($1, 'user', 'Why?', '[]', true), ($1, 'assistant', 'So.', $2, true), ($1, 'assistant', 'Because.', $3, true)`,
    [session, citations(everybody), citations(sales)],
  );
  await database.query(
    `insert into chat_refusals (user_id, session_id, question, embedding, reason, from_worker)
       values ($1, $2, 'Who?', $3, 'no_match', true)`,
    [userId, session, QUERY],
  );
  return session;
}

/**
 * The statements of the matrix, by name and operation: SQL and its parameters.
 * @param {Record<string, any>} ids
 */
function allStatements({ sales, salesSession }, documents, versions) {
  const chunk = documents.everybody.chunkIds[0];
  const update = (table, column) => [`update ${table} set ${column} = ${column} returning 1`];
  const remove = (table) => [`delete from ${table} returning 1`];
  const table = (name, column, insert, ...parameters) => ({
    select: [`select 1 from ${name}`],
    // Without RETURNING, to which the policies for reading apply as well.
    insert: [`insert into ${name} ${insert}`, parameters],
    update: update(name, column),
    delete: remove(name),
  });
  const view = (name) => ({ select: [`select * from ${name}`] });
  const call = (sql, ...parameters) => ({ execute: [sql, parameters] });
  const newChunk = {
    id: randomUUID(),
    document_id: documents.pending.id,
    content: "new",
    embedding: QUERY,
    model: "m",
  };

  return {
    kb_documents: table("kb_documents", "name", "(source) values ('folder/new.md')"),
    kb_chunks: table("kb_chunks", "ordinal", "(document_id, content) values ($1, 'new')", documents.everybody.id),
    kb_embeddings: table(
      "kb_embeddings",
      "model",
      "(chunk_id, embedding, model) values ($1, $2, 'm') on conflict (chunk_id) do update set model = excluded.model",
      chunk,
      QUERY,
    ),
    kb_sentences: table(
      "kb_sentences",
      "start",
      "(chunk_id, ordinal, start, \"end\", embedding, kind) values ($1, 7, 0, 1, $2, 'sentence')",
      chunk,
      QUERY,
    ),
    kb_headings: table(
      "kb_headings",
      "embedding",
      "(chunk_id, embedding) values ($1, $2) on conflict (chunk_id) do update set embedding = excluded.embedding",
      chunk,
      QUERY,
    ),
    kb_lexemes: table("kb_lexemes", "chunks", "(lexeme, language, chunks) values ('a', 'simple', 1)"),
    kb_syncs: table("kb_syncs", "host", "(collection, run_id) values ('other', gen_random_uuid())"),
    kb_watches: table("kb_watches", "host", "(sources) values ('folder')"),
    kb_calibration: table(
      "kb_calibration",
      "mean",
      "(model, language, mean, deviation, questions) values ('m', 'english', -4, 2, 80) " +
        "on conflict (id) do update set mean = excluded.mean",
    ),
    chat_sessions: table("chat_sessions", "title", "(user_id) values ($1)", sales),
    chat_messages: table(
      "chat_messages",
      "content",
      "(session_id, role, content) values ($1, 'user', 'Hi')",
      salesSession,
    ),
    chat_refusals: table(
      "chat_refusals",
      "question",
      "(user_id, question, embedding, reason) values ($1, 'Hm?', $2, 'no_match')",
      sales,
      QUERY,
    ),
    chat_settings: table(
      "chat_settings",
      "gap_users",
      "(id) values (true) on conflict (id) do update set gap_users = 2",
    ),
    assistants: {
      ...table("assistants", "citations", "(name) values ('new')"),
      // The sessions refer to the one that there is.
      delete: ["delete from assistants where name = 'new' returning 1"],
    },
    chat_feedback: view("chat_feedback"),
    kb_overview: view("kb_overview"),
    kb_troubles: view("kb_troubles"),
    "storage.objects": table("storage.objects", "name", "(bucket_id, name) values ('kb', 'new.pdf')"),
    match_chunks: call("select * from match_chunks($1, query_text => 'words')", QUERY),
    chat_config: call("select chat_config()"),
    chat_record_turn: call(
      RECORD_TURN,
      newTurn({ session_id: salesSession, title: null, latency_ms: 120, hedged: true }),
    ),
    chat_record_refusal: call(
      "select chat_record_refusal(gen_random_uuid(), $1, 'Hm?', $2, null, 'no_match')",
      salesSession,
      QUERY,
    ),
    chat_documents: call(
      "select * from chat_documents($1)",
      Object.values(documents).map(({ id }) => id),
    ),
    chat_has_documents: call("select chat_has_documents()"),
    chat_give_feedback: call("select chat_give_feedback($1, gen_random_uuid(), 'up')", salesSession),
    chat_delete_user_data: call("select chat_delete_user_data()"),
    chat_insights: call("select * from chat_insights()"),
    chat_insights_days: call("select * from chat_insights_days()"),
    chat_insights_gaps: call("select * from chat_insights_gaps()"),
    chat_insights_comments: call("select * from chat_insights_comments()"),
    chat_insights_documents: call("select * from chat_insights_documents()"),
    chat_insights_uncited: call("select * from chat_insights_uncited()"),
    chat_insights_health: call("select * from chat_insights_health()"),
    chat_insights_assistants: call("select * from chat_insights_assistants()"),
    // As one value, because other tests leave changes.
    chat_insights_changes: call(
      "select count_changes from (select count(*) as count_changes from chat_insights_changes()) c",
    ),
    chat_read_settings: call("select chat_read_settings()"),
    chat_update_settings: call("select chat_update_settings('{}', $1)", versions.settings),
    chat_update_assistant: call("select chat_update_assistant('default', '{}', $1)", versions.default),
    chat_add_assistant: call("select chat_add_assistant('new')"),
    chat_delete_assistant: call("select chat_add_assistant('new'), chat_delete_assistant('new', now())"),
    chat_count_citation_use: call("select chat_count_citation_use(1, 1, 1)"),
    chat_check_alerts: call("select chat_check_alerts()"),
    chat_retain: call("select chat_retain()"),
    chat_set_worker_secret: call("select chat_set_worker_secret(repeat('0', 64))"),
    kb_publish_document: call("select kb_publish_document($1)", documents.pending.id),
    kb_write_chunks: call("select kb_write_chunks($1)", JSON.stringify([newChunk])),
    kb_write_vectors: call(
      `select * from kb_write_vectors(jsonb_build_array(jsonb_build_object('chunk_id', $1::uuid, 'text_hash',
         md5(E'\\nTwo words'), 'embedding', $2::text, 'model', 'm')))`,
      chunk,
      QUERY,
    ),
    kb_set_enabled: call("select kb_set_enabled(array[$1]::uuid[], true)", documents.pending.id),
    kb_delete_documents: call("select kb_delete_documents(array[$1]::uuid[])", documents.pending.id),
    kb_note_failure: call("select kb_note_failure('folder/a.md', 'a.md', 'is broken')"),
    kb_recount_lexemes: call("select kb_recount_lexemes()"),
    kb_chunks_to_embed: call("select * from kb_chunks_to_embed('another model')"),
    kb_begin_sync: call("select kb_begin_sync('folder', gen_random_uuid(), 'host')"),
    kb_renew_sync: call("select kb_renew_sync('folder', gen_random_uuid())"),
    kb_end_sync: call("select kb_end_sync('folder', gen_random_uuid(), '{}')"),
    kb_report_watch: call("select kb_report_watch('folder', 'finished')"),
    kb_health: call("select kb_health()"),
    kb_non_latin_documents: call("select * from kb_non_latin_documents()"),
  };
}

async function outcome(database, who, [sql, parameters = []]) {
  try {
    return await as(database, who, async (transaction) => {
      /** @type {{ rows: any[], rowCount?: number, affectedRows?: number }} */
      const result = await transaction.query(sql, parameters);
      if (/^select [a-z_]+\(/.test(sql)) return "ok";
      return String(sql.startsWith("insert") ? (result.rowCount ?? result.affectedRows) : result.rows.length);
    });
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== "42501") throw error;
    return message.startsWith("permission denied") ? "denied" : "refused";
  }
}

function zip(names, values) {
  return names.map((name, index) => [name, values[index]]);
}

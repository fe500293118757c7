import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { clearKnowledgeBase, lexemeCounts, QUERY, writeDocument } from "../support/knowledge-base.mjs";

const STEPS = 150;

/** The counts of kb_lexemes always equal a fresh count. */
export function lexemes({ database, service }) {
  afterEach(() => clearKnowledgeBase(database));

  const assertRight = async (message) => {
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted, message);
    return kept;
  };
  const run = (sql, ...parameters) => database.query(sql, parameters);

  test("counts stay correct through all changes of documents and chunks", async () => {
    const random = createRandom(7);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const text = () =>
      Array.from({ length: 1 + Math.floor(random() * 6) }, () =>
        pick(["the", "houses", "house", "Häuser", "running", "ran", "it's", "x-ray", "42", "die"]),
      ).join(" ");
    const texts = (length) => Array.from({ length }, text);
    const anyDocument = async () =>
      (await run("select id from kb_documents order by md5(id::text || $1) limit 1", String(random()))).rows[0]?.id;
    const anyChunk = async () =>
      (await run("select id from kb_chunks order by md5(id::text || $1) limit 1", String(random()))).rows[0]?.id;

    const steps = {
      write: () =>
        writeDocument(database, {
          contents: texts(Math.floor(random() * 4)),
          status: pick(["ready", "pending", "failed"]),
          enabled: random() < 0.7,
          language: pick(["english", "de", "simple", "klingon"]),
          audience: pick([null, null, ["team:sales"]]),
        }),
      "write a version": async () => {
        const source = pick(["a.md", "b.md"]);
        const language = pick(["english", "german"]);
        const contents = texts(1 + Math.floor(random() * 3));
        const { id } = await writeDocument(database, { source, language, contents, status: "pending" });
        await assertRight("a pending version");
        await run("select kb_publish_document($1)", id);
      },
      "switch documents": () => run("update kb_documents set enabled = not enabled where random() < 0.4"),
      "change status": async () =>
        run("update kb_documents set status = $2 where id = $1", await anyDocument(), pick(["pending", "failed"])),
      "change language": async () =>
        run(
          "update kb_documents set language = $2 where id = $1",
          await anyDocument(),
          pick(["fr", "english", "de", ""]),
        ),
      "change audience": async () =>
        run(
          "update kb_documents set audience = $2 where id = $1",
          await anyDocument(),
          pick([null, ["team:sales"], ["team:it", "team:sales"]]),
        ),
      "write new vectors": () =>
        run(
          `select kb_write_vectors(jsonb_agg(jsonb_build_object(
             'chunk_id', id, 'text_hash', internal.kb_text_hash(content, meta, parts), 'embedding', $1::text, 'model', 'test')))
           from kb_chunks having count(*) > 0`,
          QUERY,
        ),
      "edit a chunk": async () => run("update kb_chunks set content = $2 where id = $1", await anyChunk(), text()),
      "edit all sections": () => run("update kb_chunks set meta = jsonb_build_object('section', $1::text)", text()),
      "edit all parts above": () =>
        run(
          "update kb_chunks set parts = jsonb_build_array(jsonb_build_object('text', $1::text, 'is_above', true))",
          text(),
        ),
      "override what triggers keep": () =>
        run(
          `update kb_chunks set searchable = true, audience = '{team:x}', stale = false, language = 'french', fts = 'nonsense'
           where random() < 0.3`,
        ),
      "move a chunk": async () =>
        run(
          "update kb_chunks set document_id = $2, ordinal = 1000 + (random() * 1e6)::int where id = $1",
          await anyChunk(),
          await anyDocument(),
        ),
      "upsert a chunk": async () =>
        run(
          `insert into kb_chunks (id, document_id, ordinal, content)
           select id, document_id, ordinal, $2 from kb_chunks where id = $1
           on conflict (id) do update set content = excluded.content`,
          await anyChunk(),
          text(),
        ),
      "delete a chunk": async () => run("delete from kb_chunks where id = $1", await anyChunk()),
      "delete documents": () => run("delete from kb_documents where random() < 0.1"),
      "roll back": () =>
        database
          .transaction(async (transaction) => {
            await transaction.query("delete from kb_documents where random() < 0.5");
            throw new Error("rolled back");
          })
          .catch((error) => assert.equal(error.message, "rolled back")),
    };
    for (let step = 0; step < STEPS; step++) {
      const name = pick(Object.keys(steps));
      await steps[name]();
      await assertRight(`after step ${step}, ${name}`);
    }
  });

  test("pending documents are not counted, and no counts remain after all are deleted", async () => {
    const { id } = await writeDocument(database, { contents: ["one two"], status: "pending" });
    assert.deepEqual(await assertRight(), []);
    await service.update("kb_documents", `id=eq.${id}`, { status: "ready" });
    assert.equal((await assertRight()).length, 4);
    await service.remove("kb_documents", `id=eq.${id}`);
    assert.deepEqual(await assertRight(), []);
  });

  test("kb_recount_lexemes corrects wrong counts", async () => {
    await writeDocument(database, { contents: ["hot kettles", "cold kettles"] });
    await writeDocument(database, { contents: ["Die Häuser"], language: "de", audience: ["team:sales"] });
    await writeDocument(database, { contents: ["hidden"], enabled: false });
    await writeDocument(database, { contents: ["pending"], status: "pending" });
    const right = await assertRight();
    await database.exec(`
      update kb_lexemes set chunks = chunks + 5 where lexeme in ('', 'kettl');
      delete from kb_lexemes where lexeme = 'hot';
      insert into kb_lexemes (lexeme, language, chunks) values ('nowhere', 'english', 1)`);
    const { kept, counted } = await lexemeCounts(database);
    assert.notDeepEqual(kept, counted);
    assert.equal((await service.rpc("kb_recount_lexemes", {})).status, 204);
    assert.deepEqual(await assertRight(), right);
  });

  test("truncated tables leave no counts", async () => {
    await writeDocument(database, { contents: ["one two"] });
    await database.exec("truncate kb_documents cascade");
    assert.deepEqual(await assertRight(), []);
  });

  for (const [language, expected] of Object.entries({
    english: "english",
    German: "german",
    de: "german",
    "pt-BR": "portuguese",
    zh_Hans: "simple",
    simple: "simple",
    "": "simple",
    "'; drop table kb_chunks": "simple",
    "🫖": "simple",
  })) {
    test(`the language ${JSON.stringify(language)} is searched as ${expected}`, async () => {
      await writeDocument(database, { language });
      const { rows } = await run("select language from kb_chunks");
      assert.deepEqual(rows, [{ language: expected }]);
    });
  }
}

/** mulberry32: the same sequence of steps on every run. */
function createRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

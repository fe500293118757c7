import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterEach, test } from "node:test";
import {
  clearKnowledgeBase,
  embeddingWithSimilarity,
  lexemeCounts,
  QUERY,
  writeDocument,
} from "../support/knowledge-base.mjs";
import { as, user } from "../support/roles.mjs";

/** What gives a sentence its meaning (chains), and how a passage is laid out (blocks). */
export function chains({ database }) {
  afterEach(() => clearKnowledgeBase(database));

  const content = "Theft\tyes\nFire\tno\n\nSee the terms.";
  const leadIn = { role: "lead_in", text: "Not covered:", start: 120 };
  const above = { ...leadIn, is_above: true };
  const column = { role: "column", text: "Excluded", start: 150, cell: 1 };
  const parts = [leadIn, column];
  const statements = [
    { start: 0, end: 9, kind: "row", chain: [0, 1] },
    { start: 10, end: 17, kind: "row", chain: [1] },
    { start: 19, end: 33, kind: "sentence", chain: [] },
  ];
  const blocks = {
    blocks: [
      {
        kind: "row",
        start: 0,
        end: 9,
        cells: [
          [0, 5],
          [6, 9],
        ],
      },
      { kind: "paragraph", start: 19, end: 33 },
    ],
    marks: [{ kind: "strong", start: 23, end: 32 }],
  };
  const withVectors = (sentences) => sentences.map((sentence) => ({ embedding: QUERY, ...sentence }));
  const chunk = (changes = {}) => ({
    id: randomUUID(),
    content,
    embedding: embeddingWithSimilarity(0.9),
    model: "test",
    sentences: withVectors(statements),
    parts,
    blocks,
    ...changes,
  });

  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;
  /** Writes a ready document with these chunks as `kb sync` does. */
  const publish = async (chunks, document = {}) => {
    const { id } = await writeDocument(database, { ...document, status: "pending", similarities: [] });
    await writeChunks(id, chunks);
    await run("select kb_publish_document($1)", id);
    return id;
  };
  const writeChunks = (id, chunks) =>
    run("select kb_write_chunks($1)", JSON.stringify(chunks.map((chunk) => ({ document_id: id, ...chunk }))));
  const hashOf = (text) => createHash("md5").update(text).digest("hex");
  const writeVectors = (entry) =>
    run(
      "select kb_write_vectors($1)",
      JSON.stringify([{ text_hash: hashOf(`\n${content}`), embedding: QUERY, model: "test", ...entry }]),
    );
  const search = (text, who = user(randomUUID())) =>
    as(database, who, async (transaction) => {
      const { rows } = await transaction.query("select * from match_chunks($1, 5, -1, $2)", [QUERY, text]);
      return rows;
    });
  const withoutSimilarity = (sentences) =>
    sentences.map((sentence) => {
      const { similarity, ...rest } = sentence;
      assert.equal(typeof similarity, "number");
      return rest;
    });
  const stored = async () => (await run("select stale, parts, blocks from kb_chunks"))[0];

  test("match_chunks returns the kinds, chains, parts and blocks that kb_write_chunks writes", async () => {
    await publish([chunk()]);
    for (const text of [null, "theft"]) {
      const [row] = await search(text);
      assert.deepEqual(withoutSimilarity(row.sentences), statements);
      assert.deepEqual([row.parts, row.blocks], [parts, blocks]);
    }
  });

  test("a sentence without chain has an empty one, and so a chunk without parts and blocks", async () => {
    const sentences = withVectors([
      { start: 0, end: 9, kind: "row" },
      { start: 10, end: 17, kind: "row", chain: null },
    ]);
    await publish([undefined, null].map((missing) => chunk({ sentences, parts: missing, blocks: missing })));
    for (const row of await search(null)) {
      assert.deepEqual(withoutSimilarity(row.sentences), [
        { start: 0, end: 9, kind: "row", chain: [] },
        { start: 10, end: 17, kind: "row", chain: [] },
      ]);
      assert.deepEqual([row.parts, row.blocks], [[], null]);
    }
  });

  test("kb_write_vectors replaces kinds and chains, and the parts and blocks if it gets some", async () => {
    const { id } = chunk();
    await publish([chunk({ id })]);
    const sentences = [{ start: 0, end: 17, kind: "code", chain: [1] }];
    await writeVectors({ chunk_id: id, sentences: withVectors(sentences) });
    const [row] = await search(null);
    assert.deepEqual([withoutSimilarity(row.sentences), row.parts, row.blocks], [sentences, parts, blocks]);
    const layout = { blocks: [{ kind: "code", start: 0, end: 33 }] };
    await writeVectors({ chunk_id: id, blocks: layout });
    assert.deepEqual(await stored(), { stale: false, parts, blocks: layout });
    await writeVectors({ chunk_id: id, parts: [column] });
    assert.deepEqual(await stored(), { stale: false, parts: [column], blocks: layout });
    await writeVectors({ chunk_id: id, parts: [] });
    assert.deepEqual(await stored(), { stale: false, parts: [], blocks: layout });
  });

  test("kb_write_vectors compares the text with the parts that it replaces", async () => {
    const { id } = chunk();
    await publish([chunk({ id })]);
    const write = async (parts, text) =>
      (await writeVectors({ chunk_id: id, parts, text_hash: hashOf(text) })).length === 1;
    const withAbove = `\nNot covered:\n${content}`;
    assert.equal(await write([above], withAbove), false);
    assert.equal(await write([above], `\n${content}`), true);
    assert.ok((await search("covered"))[0].lexical > 0.6);
    assert.equal(await write([], `\n${content}`), false);
    assert.deepEqual(await stored(), { stale: false, parts: [above], blocks });
    assert.equal(await write([], withAbove), true);
    assert.equal((await search("covered"))[0].lexical, 0);
  });

  test("an edit of content removes the blocks and the parts inside the passage, other edits do not", async () => {
    const all = [leadIn, above, column, { ...column, is_above: false }];
    await publish([chunk({ parts: all })]);
    await run(`update kb_chunks set content = content, meta = '{"section": "Insurance", "page": 2}', ordinal = 7`);
    await run("update kb_documents set language = 'german', enabled = false");
    assert.deepEqual(await stored(), { stale: true, parts: all, blocks });
    await run("update kb_chunks set content = 'Theft'");
    assert.deepEqual(await stored(), { stale: true, parts: [above], blocks: null });
  });

  test("kb_write_chunks replaces the parts and blocks together with the content", async () => {
    const written = chunk();
    const id = await publish([written]);
    await writeChunks(id, [{ ...written, content: `${content} Or ask.` }]);
    assert.deepEqual(await stored(), { stale: false, parts, blocks });
    await writeChunks(id, [{ ...written, parts: undefined, blocks: undefined }]);
    assert.deepEqual(await stored(), { stale: false, parts: [], blocks: null });
    await writeChunks(id, [{ ...written, parts: [above], blocks: undefined }]);
    assert.deepEqual(await stored(), { stale: false, parts: [above], blocks: null });
    await writeChunks(id, [written]);
    assert.deepEqual(await stored(), { stale: false, parts, blocks });
  });

  const withChain = (chain) => ({ sentences: withVectors([{ start: 0, end: 9, kind: "row", chain }]) });
  /** @type {Record<string, [changes: object, message: string]>} */
  const invalid = {
    "a sentence without kind": [
      { sentences: withVectors([{ start: 0, end: 9 }]) },
      '"kind" of relation "kb_sentences"',
    ],
    "a sentence of an unknown kind": [
      { sentences: withVectors([{ start: 0, end: 9, kind: "list" }]) },
      '"kb_sentences_kind_valid"',
    ],
    "a chain that is not a list": [withChain({}), "expected JSON array"],
    "a chain of lists": [withChain([[0], [1]]), '"kb_sentences_chain_is_list"'],
    "a chain of parts": [withChain([leadIn]), "invalid input syntax for type smallint"],
    "a chain that is too long": [withChain(Array(25).fill(0)), '"kb_sentences_chain_size"'],
    "a chain with a negative position": [withChain([0, -1]), '"kb_sentences_chain_not_negative"'],
    "a chain with a missing position": [withChain([0, null]), '"kb_sentences_chain_not_negative"'],
    "parts that are not a list": [{ parts: leadIn }, '"kb_chunks_parts_is_list"'],
    "parts that are too large": [{ parts: ["a".repeat(16384)] }, '"kb_chunks_parts_size"'],
    "blocks that are not an object": [{ blocks: [] }, '"kb_chunks_blocks_is_object"'],
    "blocks that are too large": [{ blocks: { blocks: "a".repeat(8192) } }, '"kb_chunks_blocks_size"'],
  };
  for (const [title, [changes, expected]] of Object.entries(invalid)) {
    const message = new RegExp(expected);
    test(`kb_write_chunks rejects ${title}`, async () => {
      await assert.rejects(publish([chunk(changes)]), message);
    });
    test(`kb_write_vectors rejects ${title}`, async () => {
      const { id } = chunk();
      await publish([chunk({ id })]);
      await assert.rejects(writeVectors({ chunk_id: id, ...changes }), message);
    });
  }

  test("the longest chain and the largest parts and blocks are stored", async () => {
    const fill = (value, size) => "a".repeat(size - JSON.stringify(value("")).length);
    // Postgres writes a space behind each colon.
    const list = (text) => [{ text }];
    const layout = (text) => ({ blocks: text });
    const chain = Array(24).fill(32767);
    await publish([chunk({ ...withChain(chain), parts: list(fill(list, 16383)), blocks: layout(fill(layout, 8191)) })]);
    const [row] = await run(
      "select chain, octet_length(parts::text) as parts, octet_length(blocks::text) as blocks from kb_sentences, kb_chunks",
    );
    assert.deepEqual(row, { chain, parts: 16384, blocks: 8192 });
  });

  test("a question's word that only a part above a passage has counts as found", async () => {
    const above = [
      { ...leadIn, text: "Excluded from the warranty:", is_above: true },
      { role: "heading", text: 'The "silver" policy', start: 1, is_above: true },
    ];
    await publish([chunk({ parts: above }), chunk()]);
    for (const word of ["warranty", "silver"]) {
      const rows = await search(word);
      assert.equal(rows.length, 2);
      assert.ok(rows[0].lexical > 0.6, String(rows[0].lexical));
      assert.deepEqual([rows[0].parts, rows[1].lexical], [above, 0]);
    }
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted);
    // The other parts are not searched by words, because they are in the passage or hold for only some of it.
    assert.ok((await search("covered")).every((row) => row.lexical === 0));
  });

  test("the text of a chunk is its section, the parts above it and its content, whatever else the parts contain", async () => {
    const text = async (meta, parts) =>
      (
        await run(
          "select internal.kb_chunk_text('Theft', $1, $2) as text, internal.kb_text_hash('Theft', $1, $2) as hash",
          JSON.stringify(meta),
          JSON.stringify(parts),
        )
      )[0];
    const isAbove = (value) => ({ ...column, is_above: value });
    for (const [meta, parts, expected] of /** @type {[object, unknown, string][]} */ ([
      [{}, [], "\nTheft"],
      [{ section: "Insurance" }, [], "Insurance\nTheft"],
      [{}, [above, isAbove(true)], "\nNot covered:\nExcluded\nTheft"],
      [{}, [isAbove(true), leadIn, above], "\nExcluded\nNot covered:\nTheft"],
      [{ section: "A" }, [above], "A\nNot covered:\nTheft"],
      [{}, [leadIn, isAbove(false), isAbove("true"), isAbove(1), isAbove(null)], "\nTheft"],
      [{}, [1, null, {}, { text: null, is_above: true }, { is_above: true }, "a", above], "\nNot covered:\nTheft"],
      [{}, "a", "\nTheft"],
    ])) {
      assert.deepEqual(await text(meta, parts), { text: expected, hash: hashOf(expected) });
    }
  });

  test("a chunk is not found after an edit of the words above it until it has vectors of them", async () => {
    const { id } = chunk();
    await publish([chunk({ id, meta: { section: "A" }, parts: [above, column] })]);
    const edit = (parts, meta = { section: "A" }) =>
      run("update kb_chunks set parts = $1, meta = $2", JSON.stringify(parts), JSON.stringify(meta));
    await edit([{ ...above, role: "label", start: 7 }, { ...column, text: "Included" }, leadIn], {
      section: "A",
      page: 2,
    });
    assert.equal((await stored()).stale, false);
    assert.equal((await search("included"))[0].lexical, 0);

    const edited = [{ ...above, text: "Größe:" }, column];
    await edit(edited);
    assert.deepEqual(await stored(), { stale: true, parts: edited, blocks });
    assert.deepEqual(await search("covered"), []);
    const rows = await run("select section, parts, reason from kb_chunks_to_embed('test')");
    assert.deepEqual(rows, [{ section: "A", parts: edited, reason: "stale" }]);
    for (const [text, written] of /** @type {[string, number][]} */ ([
      [`A\n${content}`, 0],
      [`A\nNot covered:\n${content}`, 0],
      [`A\nGröße:\n${content}`, 1],
    ])) {
      assert.equal((await writeVectors({ chunk_id: id, text_hash: hashOf(text) })).length, written, text);
    }
    const [row] = await search("große");
    assert.ok(row.lexical > 0.6);
  });

  test("a part that comes to hold from the start of its passage makes the chunk stale", async () => {
    await publish([chunk()]);
    await run("update kb_chunks set parts = $1", JSON.stringify([above, column]));
    assert.deepEqual(await stored(), { stale: true, parts: [above, column], blocks });
  });

  test("text that moves from the content to the parts above it makes a chunk stale", async () => {
    await publish([chunk({ content: "Not covered:\nTheft" })]);
    await run("update kb_chunks set content = 'Theft', parts = $1", JSON.stringify([above]));
    assert.deepEqual(await stored(), { stale: true, parts: [above], blocks: null });
  });

  test("kb_write_vectors of another model keeps what kb_chunks_to_embed returns of a chunk", async () => {
    const { id } = chunk();
    await publish([chunk({ id })]);
    const toEmbed = async () => run("select chunk_id, parts, sentences, reason from kb_chunks_to_embed('other')");
    const [found] = await toEmbed();
    assert.deepEqual(found, { chunk_id: id, parts, sentences: statements, reason: "model" });
    await writeVectors({ ...found, sentences: withVectors(found.sentences), model: "other" });
    assert.deepEqual(await toEmbed(), []);
    const [row] = await search(null);
    assert.deepEqual([withoutSimilarity(row.sentences), row.parts, row.blocks], [statements, parts, blocks]);
  });

  test("kb_chunks_to_embed returns no sentences of a text that must be read again", async () => {
    const toEmbed = () => run("select parts, sentences, reason from kb_chunks_to_embed('test')");
    await writeDocument(database, { similarities: [null] });
    assert.deepEqual(await toEmbed(), [{ parts: [], sentences: null, reason: "missing" }]);
    await clearKnowledgeBase(database);
    await publish([chunk({ parts: [above, column] })]);
    await run("update kb_chunks set content = 'Theft'");
    assert.deepEqual(await toEmbed(), [{ parts: [above], sentences: null, reason: "stale" }]);
    await clearKnowledgeBase(database);
    // Nothing in it can be quoted, and nobody edited it.
    await publish([chunk({ parts: [], sentences: [] })]);
    await run("update kb_chunks set stale = true");
    assert.deepEqual(await toEmbed(), [{ parts: [], sentences: [], reason: "stale" }]);
  });

  test("users get the chains, parts and blocks of the chunks that they can see, only from match_chunks", async () => {
    const { id } = chunk();
    await publish([chunk({ id })], { audience: ["team:sales"] });
    const inTeam = (team) => user(randomUUID(), { app_metadata: { team } });
    const [row] = await search("theft", inTeam("sales"));
    assert.deepEqual([withoutSimilarity(row.sentences), row.parts, row.blocks], [statements, parts, blocks]);
    assert.deepEqual(await search("theft", inTeam("it")), []);

    const helper = (audiences) =>
      run("select sentences, parts, blocks from internal.kb_chunk_sentences($1, $2, $3, true)", [id], QUERY, audiences);
    assert.equal((await helper(["team:sales"])).length, 1);
    assert.deepEqual(await helper(["team:it"]), []);
    for (const column of ["chain from kb_sentences", "parts from kb_chunks", "blocks from kb_chunks"]) {
      const read = as(database, inTeam("sales"), (transaction) => transaction.query(`select ${column}`));
      await assert.rejects(read, /permission denied/, column);
    }
  });

  test("a search reads long parts and blocks only of the passages that it returns", async () => {
    // Random, so that they are too large for their rows even when compressed.
    const noise = (bytes) => randomBytes(bytes / 2).toString("hex");
    const count = 40;
    const long = () => chunk({ parts: [{ ...leadIn, text: noise(16_000) }], blocks: { blocks: noise(8000) } });
    await publish(Array.from({ length: count }, long));
    const statistics = async () => {
      await run("select pg_stat_force_next_flush()");
      const [row] = await run(
        `select (s.toast_blks_hit + s.toast_blks_read)::int as read, pg_relation_size(c.reltoastrelid)::int / 8192 as pages
           from pg_statio_user_tables s join pg_class c on c.oid = s.relid
           where c.relname = 'kb_chunks'`,
      );
      return row;
    };
    const before = await statistics();
    await as(database, user(randomUUID()), async (transaction) => {
      const { rows } = await transaction.query("select * from match_chunks($1, 1, -1, 'theft')", [QUERY]);
      assert.ok(rows[0].blocks && rows[0].parts[0].text);
    });
    const after = await statistics();
    assert.ok(after.pages > count / 2, `${after.pages} pages of long values`);
    const read = after.read - before.read;
    assert.ok(read > 0 && read < count / 2, `${read} pages of long values were read`);
  });
}

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
  const column = { role: "column", text: "Excluded", start: 150, cell: 1 };
  const statements = [
    { start: 0, end: 9, kind: "row", chain: [leadIn, column] },
    { start: 10, end: 17, kind: "row", chain: [column] },
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
  const stored = async () => (await run("select stale, blocks from kb_chunks"))[0];

  test("match_chunks returns the kinds, chains and blocks that kb_write_chunks writes", async () => {
    await publish([chunk()]);
    for (const text of [null, "theft"]) {
      const [row] = await search(text);
      assert.deepEqual(withoutSimilarity(row.sentences), statements);
      assert.deepEqual(row.blocks, blocks);
    }
  });

  test("a sentence without kind and chain is a sentence with an empty chain, and a chunk without blocks has none", async () => {
    const sentences = withVectors([
      { start: 0, end: 9 },
      { start: 10, end: 17, kind: null, chain: null },
    ]);
    await publish([chunk({ sentences, blocks: undefined }), chunk({ sentences, blocks: null })]);
    for (const row of await search(null)) {
      assert.deepEqual(withoutSimilarity(row.sentences), [
        { start: 0, end: 9, kind: "sentence", chain: [] },
        { start: 10, end: 17, kind: "sentence", chain: [] },
      ]);
      assert.equal(row.blocks, null);
    }
  });

  test("kb_write_vectors replaces kinds and chains, and the blocks if it gets some", async () => {
    const { id } = chunk();
    await publish([chunk({ id })]);
    const sentences = withVectors([{ start: 0, end: 17, kind: "code", chain: [leadIn] }]);
    await writeVectors({ chunk_id: id, sentences });
    const [row] = await search(null);
    assert.deepEqual(withoutSimilarity(row.sentences), [{ start: 0, end: 17, kind: "code", chain: [leadIn] }]);
    assert.deepEqual(row.blocks, blocks);
    const others = { blocks: [{ kind: "code", start: 0, end: 33 }] };
    await writeVectors({ chunk_id: id, blocks: others });
    assert.deepEqual((await search(null))[0].blocks, others);
    assert.deepEqual(await stored(), { stale: false, blocks: others });
  });

  test("an edit of content removes the blocks, other edits do not", async () => {
    await publish([chunk()]);
    await run(`update kb_chunks set content = content, meta = '{"section": "Insurance", "page": 2}', ordinal = 7`);
    await run("update kb_documents set language = 'german', enabled = false");
    assert.deepEqual((await stored()).blocks, blocks);
    await run("update kb_chunks set content = 'Theft'");
    assert.deepEqual(await stored(), { stale: true, blocks: null });
  });

  test("kb_write_chunks replaces the blocks together with the content", async () => {
    const written = chunk();
    const id = await publish([written]);
    await writeChunks(id, [{ ...written, content: `${content} Or ask.` }]);
    assert.deepEqual(await stored(), { stale: false, blocks });
    await writeChunks(id, [{ ...written, blocks: undefined }]);
    assert.deepEqual(await stored(), { stale: false, blocks: null });
    await writeChunks(id, [written]);
    assert.deepEqual(await stored(), { stale: false, blocks });
  });

  /** @type {Record<string, [changes: object, constraint: string]>} */
  const invalid = {
    "a sentence of an unknown kind": [
      { sentences: withVectors([{ start: 0, end: 9, kind: "list" }]) },
      "sentences_kind_valid",
    ],
    "a chain that is not a list": [
      { sentences: withVectors([{ start: 0, end: 9, chain: leadIn }]) },
      "sentences_chain_is_list",
    ],
    "a chain that is too large": [
      { sentences: withVectors([{ start: 0, end: 9, chain: [{ ...leadIn, text: "a".repeat(8192) }] }]) },
      "sentences_chain_size",
    ],
    "blocks that are not an object": [{ blocks: [] }, "chunks_blocks_is_object"],
    "blocks that are too large": [{ blocks: { blocks: "a".repeat(32768) } }, "chunks_blocks_size"],
    "a chain of a chunk that is not a list": [{ meta: { chain: leadIn } }, "chunks_chain_is_list"],
  };
  for (const [title, [changes, constraint]] of Object.entries(invalid)) {
    const message = new RegExp(`"kb_${constraint}"`);
    test(`kb_write_chunks rejects ${title}`, async () => {
      await assert.rejects(publish([chunk(changes)]), message);
    });
    if ("meta" in changes) continue;
    test(`kb_write_vectors rejects ${title}`, async () => {
      const { id } = chunk();
      await publish([chunk({ id })]);
      await assert.rejects(writeVectors({ chunk_id: id, ...changes }), message);
    });
  }

  test("the largest chain and the largest blocks are stored", async () => {
    const fill = (value, size) => "a".repeat(size - JSON.stringify(value("")).length);
    // Postgres writes a space behind each colon.
    const chain = (text) => [{ text }];
    const layout = (text) => ({ blocks: text });
    const largest = {
      sentences: withVectors([{ start: 0, end: 9, chain: chain(fill(chain, 8191)) }]),
      blocks: layout(fill(layout, 32767)),
    };
    await publish([chunk(largest)]);
    const [row] = await run(
      "select octet_length(chain::text) as chain, octet_length(blocks::text) as blocks from kb_sentences, kb_chunks",
    );
    assert.deepEqual(row, { chain: 8192, blocks: 32768 });
  });

  test("a question's word that only the chain of a passage has counts as found", async () => {
    const chain = [
      { ...leadIn, text: "Excluded from the warranty:" },
      { role: "heading", text: 'The "silver" policy', start: 1 },
    ];
    await publish([chunk({ meta: { chain } }), chunk({ meta: { chain: [] } })]);
    for (const word of ["warranty", "silver"]) {
      const rows = await search(word);
      assert.equal(rows.length, 2);
      assert.ok(rows[0].lexical > 0.6, String(rows[0].lexical));
      assert.deepEqual([rows[0].meta, rows[1].lexical], [{ chain }, 0]);
    }
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted);
    // A chain of a sentence is not searched by words, because it is only a part of the passage.
    assert.ok((await search("covered")).every((row) => row.lexical === 0));
  });

  test("the text of a chunk is its section, its chain and its content, whatever else the chain contains", async () => {
    const text = async (meta) =>
      (
        await run(
          "select internal.kb_chunk_text('Theft', $1) as text, internal.kb_text_hash('Theft', $1) as hash",
          meta,
        )
      )[0];
    for (const [meta, expected] of /** @type {[object, string][]} */ ([
      [{}, "\nTheft"],
      [{ section: "Insurance" }, "Insurance\nTheft"],
      [{ chain: [leadIn, column] }, "\nNot covered:\nExcluded\nTheft"],
      [{ section: "A", chain: [leadIn] }, "A\nNot covered:\nTheft"],
      [{ chain: [] }, "\nTheft"],
      [{ chain: [1, null, {}, { text: null }, "a", leadIn] }, "\nNot covered:\nTheft"],
    ])) {
      assert.deepEqual(await text(JSON.stringify(meta)), { text: expected, hash: hashOf(expected) });
    }
  });

  test("a chunk whose chain has other words is not found until it has vectors of them", async () => {
    const { id } = chunk();
    await publish([chunk({ id, meta: { section: "A", chain: [leadIn] } })]);
    const edit = (meta) => run("update kb_chunks set meta = $1", JSON.stringify(meta));
    await edit({ section: "A", page: 2, chain: [{ ...leadIn, role: "label", start: 7 }] });
    assert.equal((await stored()).stale, false);

    const chain = [{ ...leadIn, text: "Größe:" }];
    await edit({ section: "A", chain });
    assert.deepEqual(await stored(), { stale: true, blocks });
    assert.deepEqual(await search("covered"), []);
    const rows = await run("select section, chain, reason from kb_chunks_to_embed('test')");
    assert.deepEqual(rows, [{ section: "A", chain, reason: "stale" }]);
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

  test("text that moves from the content to the chain makes a chunk stale", async () => {
    await publish([chunk({ content: "Not covered:\nTheft" })]);
    await run("update kb_chunks set content = 'Theft', meta = $1", JSON.stringify({ chain: [leadIn] }));
    assert.deepEqual(await stored(), { stale: true, blocks: null });
  });

  test("kb_chunks_to_embed returns null as the chain of a chunk without one", async () => {
    await writeDocument(database, { similarities: [null] });
    assert.deepEqual(await run("select chain, reason from kb_chunks_to_embed('test')"), [
      { chain: null, reason: "missing" },
    ]);
  });

  test("users get the chains and blocks of the chunks that they can see, only from match_chunks", async () => {
    const { id } = chunk();
    await publish([chunk({ id })], { audience: ["team:sales"] });
    const inTeam = (team) => user(randomUUID(), { app_metadata: { team } });
    const [row] = await search("theft", inTeam("sales"));
    assert.deepEqual([withoutSimilarity(row.sentences), row.blocks], [statements, blocks]);
    assert.deepEqual(await search("theft", inTeam("it")), []);

    const helper = (audiences) =>
      run("select sentences, blocks from internal.kb_chunk_sentences($1, $2, $3, true)", [id], QUERY, audiences);
    assert.equal((await helper(["team:sales"])).length, 1);
    assert.deepEqual(await helper(["team:it"]), []);
    for (const column of ["chain from kb_sentences", "blocks from kb_chunks"]) {
      const read = as(database, inTeam("sales"), (transaction) => transaction.query(`select ${column}`));
      await assert.rejects(read, /permission denied/, column);
    }
  });

  test("a search reads long blocks and chains only of the passages that it returns", async () => {
    // Random, so that they are too large for their rows even when compressed.
    const noise = (bytes) => randomBytes(bytes / 2).toString("hex");
    const count = 40;
    const long = () =>
      chunk({
        blocks: { blocks: noise(16_000) },
        sentences: withVectors([{ start: 0, end: 9, chain: [{ ...leadIn, text: noise(6000) }] }]),
      });
    await publish(Array.from({ length: count }, long));
    const statistics = async () => {
      await run("select pg_stat_force_next_flush()");
      return run(
        `select c.relname, (s.toast_blks_hit + s.toast_blks_read)::int as read, pg_relation_size(c.reltoastrelid)::int / 8192 as pages
           from pg_statio_user_tables s join pg_class c on c.oid = s.relid
           where c.relname in ('kb_chunks', 'kb_sentences') order by c.relname`,
      );
    };
    const before = await statistics();
    await as(database, user(randomUUID()), async (transaction) => {
      const { rows } = await transaction.query("select * from match_chunks($1, 1, -1, 'theft')", [QUERY]);
      assert.ok(rows[0].blocks && rows[0].sentences[0].chain);
    });
    const after = await statistics();
    for (const [index, { relname, pages, read }] of after.entries()) {
      assert.ok(pages > count / 2, `${relname} has only ${pages} pages of long values`);
      const fresh = read - before[index].read;
      assert.ok(fresh > 0 && fresh < count / 2, `${fresh} pages of long values of ${relname} were read`);
    }
  });
}

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";

/** Rows that no role may write. */
export function constraints({ database, alice, service }) {
  let document;
  let session;
  let message;

  before(async () => {
    document = await writeDocument(database, { source: "taken.md" });
    await service.update("kb_documents", `id=eq.${document.id}`, { storage_path: "taken/file.pdf" });
    session = (await service.insert("chat_sessions", { user_id: alice.id, title: "Constraints" })).body[0];
    message = (await service.insert("chat_messages", { session_id: session.id, role: "user", content: "a" })).body[0];
  });
  after(async () => {
    await clearKnowledgeBase(database);
    await alice.remove("chat_sessions", `id=eq.${session.id}`);
  });

  /** @type {Record<string, [table: string, row: () => object, constraint: string]>} */
  const rejected = {
    "a document with an unknown status": [
      "kb_documents",
      () => ({ source: "a", name: "a", status: "live" }),
      "status_valid",
    ],
    "a document with an empty source": ["kb_documents", () => ({ source: " ", name: "a" }), "source_not_blank"],
    "a document whose meta is not an object": [
      "kb_documents",
      () => ({ source: "a", name: "a", meta: [] }),
      "meta_is_object",
    ],
    "a second ready document of one source": [
      "kb_documents",
      () => ({ source: "taken.md", name: "a", status: "ready" }),
      "one_ready_per_source",
    ],
    "a chunk before position 0": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: -1, content: "a" }),
      "ordinal_not_negative",
    ],
    "two chunks at one position": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 0, content: "a" }),
      "ordinal_unique",
    ],
    "a chunk of whitespace": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 5, content: "\n \t" }),
      "content_not_blank",
    ],
    "a chunk without a document": [
      "kb_chunks",
      () => ({ document_id: crypto.randomUUID(), ordinal: 0, content: "a" }),
      "document_id_fkey",
    ],
    "a message with an unknown role": [
      "chat_messages",
      () => ({ session_id: session.id, role: "system", content: "a" }),
      "role_valid",
    ],
    "an empty message": [
      "chat_messages",
      () => ({ session_id: session.id, role: "user", content: "  " }),
      "content_not_blank",
    ],
    "a message of more than 100,000 characters": [
      "chat_messages",
      () => ({ session_id: session.id, role: "user", content: "é".repeat(100_001) }),
      "content_length",
    ],
    "a message with more than 256 KiB of citations": [
      "chat_messages",
      () => ({ session_id: session.id, role: "assistant", content: "a", citations: ["a".repeat(262_141)] }),
      "citations_size",
    ],
    "a message with more than 50 citations": [
      "chat_messages",
      () => ({ session_id: session.id, role: "assistant", content: "a", citations: Array(51).fill({}) }),
      "citations_count",
    ],
    "a message with more than 50 citations that are null": [
      "chat_messages",
      () => ({ session_id: session.id, role: "assistant", content: "a", citations: Array(51).fill(null) }),
      "citations_count",
    ],
    "a second message with the id of another one of its session": [
      "chat_messages",
      () => ({ session_id: session.id, id: message.id, role: "assistant", content: "a" }),
      "chat_messages_pkey",
    ],
    "a second document with the file of another one": [
      "kb_documents",
      () => ({ source: "b", name: "b", storage_path: "taken/file.pdf" }),
      "storage_path_unique",
    ],
    ...Object.fromEntries(
      ["", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/./b", "a/../b", "a/..", "a".repeat(1025)].map((path) => [
        `a document with the storage path "${path.slice(0, 9)}"`,
        ["kb_documents", () => ({ source: "c", name: "c", storage_path: path }), "storage_path_is_normalized"],
      ]),
    ),
    "a document whose name is too long": [
      "kb_documents",
      () => ({ source: "d", name: "é".repeat(301) }),
      "name_length",
    ],
    "a document whose meta is too large": [
      "kb_documents",
      () => ({ source: "d", meta: { note: "a".repeat(8192) } }),
      "documents_meta_size",
    ],
    "a document whose title is too long": [
      "kb_documents",
      () => ({ source: "d", meta: { title: "é".repeat(301) } }),
      "title_length",
    ],
    "a document whose address is too long": [
      "kb_documents",
      () => ({ source: "d", meta: { url: "a".repeat(2001) } }),
      "documents_url_size",
    ],
    "a chunk of too many bytes": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 5, content: `${"é".repeat(2048)}a` }),
      "content_size",
    ],
    "a chunk whose meta is too large": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 5, content: "a", meta: { note: "a".repeat(8192) } }),
      "chunks_meta_size",
    ],
    "a chunk below too many headings": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 5, content: "a", meta: { section: `${"é".repeat(500)}a` } }),
      "section_size",
    ],
    "a chunk whose address is too long": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 5, content: "a", meta: { url: "a".repeat(2001) } }),
      "chunks_url_size",
    ],
    "a message based on too many documents": [
      "chat_messages",
      () => ({
        session_id: session.id,
        role: "assistant",
        content: "a",
        sources: Array.from({ length: 101 }, () => crypto.randomUUID()),
      }),
      "sources_count",
    ],
    "a message whose citations are not an array": [
      "chat_messages",
      () => ({ session_id: session.id, role: "user", content: "a", citations: {} }),
      "citations_is_array",
    ],
  };

  for (const [title, [table, row, constraint]] of Object.entries(rejected)) {
    test(`${title} is rejected`, async () => {
      const { status, body } = await service.insert(table, row());
      assert.ok(status >= 400, String(status));
      assert.match(body.message, new RegExp(constraint));
    });
  }

  test("messages of the maximum length are accepted", async () => {
    const content = "é".repeat(100_000);
    for (const citations of [["a".repeat(262_140)], Array(50).fill({})]) {
      const row = { session_id: session.id, role: "assistant", content, citations };
      assert.equal((await service.insert("chat_messages", row)).status, 201);
    }
  });

  test("documents and chunks of the maximum size are accepted", async () => {
    const meta = { title: "é".repeat(300), url: "a".repeat(2000) };
    const written = await service.insert("kb_documents", { source: "large.md", name: "é".repeat(300), meta });
    assert.equal(written.status, 201, JSON.stringify(written.body));
    const chunk = {
      document_id: written.body[0].id,
      content: "é".repeat(2048),
      meta: { section: "é".repeat(500), url: "a".repeat(2000) },
    };
    assert.equal((await service.insert("kb_chunks", chunk)).status, 201);
  });

  test("ordinary storage paths are accepted", async () => {
    for (const path of ["a", "a/b.pdf", "a/.hidden/b..c", "…/Größe & Maß.pdf"]) {
      const { status } = await service.update("kb_documents", `id=eq.${document.id}`, { storage_path: path });
      assert.equal(status, 200, path);
    }
  });

  test("an embedding of another size is rejected", async () => {
    const row = { chunk_id: document.chunkIds[0], embedding: "[1,2,3]", model: "test" };
    await assert.rejects(
      database.query("insert into kb_embeddings (chunk_id, embedding, model) values ($1, $2, $3)", [
        row.chunk_id,
        row.embedding,
        row.model,
      ]),
      /expected 384 dimensions, not 3/,
    );
  });

  test("pending versions may coexist with the ready document of their source", async () => {
    const { status } = await service.insert("kb_documents", [
      { source: "taken.md", name: "second" },
      { source: "taken.md", name: "third" },
    ]);
    assert.equal(status, 201);
  });
}

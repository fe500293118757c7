import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";

/** Rows that must not exist, whoever writes them. */
export function constraints({ database, alice, service }) {
  let document;
  let session;

  before(async () => {
    document = await writeDocument(database, { source: "taken.md" });
    session = (await alice.insert("chat_sessions", { title: "Constraints" })).body[0];
  });
  after(async () => {
    await clearKnowledgeBase(database);
    await alice.remove("chat_sessions", `id=eq.${session.id}`);
  });

  const rejected = {
    "a document with an unknown status": [
      "kb_documents",
      () => ({ source: "a", name: "a", status: "live" }),
      "status_known",
    ],
    "a document with an empty source": ["kb_documents", () => ({ source: " ", name: "a" }), "source_not_empty"],
    "a document with an empty name": ["kb_documents", () => ({ source: "a", name: "" }), "name_not_empty"],
    "a document whose meta is no object": [
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
    "a chunk of white space": [
      "kb_chunks",
      () => ({ document_id: document.id, ordinal: 5, content: "\n \t" }),
      "content_not_empty",
    ],
    "a chunk of no document": [
      "kb_chunks",
      () => ({ document_id: crypto.randomUUID(), ordinal: 0, content: "a" }),
      "document_id_fkey",
    ],
    "a message with an unknown role": [
      "chat_messages",
      () => ({ session_id: session.id, role: "system", content: "a" }),
      "role_known",
    ],
    "an empty message": [
      "chat_messages",
      () => ({ session_id: session.id, role: "user", content: "  " }),
      "content_not_empty",
    ],
    "a message whose citations are no array": [
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

  test("pending versions may wait beside the ready document of their source", async () => {
    const { status } = await service.insert("kb_documents", [
      { source: "taken.md", name: "second" },
      { source: "taken.md", name: "third" },
    ]);
    assert.equal(status, 201);
  });
}

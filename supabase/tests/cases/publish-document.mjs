import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { clearKnowledgeBase, lexemeCounts, writeDocument } from "../support/knowledge-base.mjs";
import { as, user } from "../support/roles.mjs";

const SOURCE = "guide.md";

/** Publishing: from pending to ready in one step. */
export function publishDocument({ database, anon, alice, service }) {
  afterEach(() => clearKnowledgeBase(database));

  const pendingVersion = (hash, /** @type {(number | null)[]} */ similarities = [0.9, 0.8]) =>
    writeDocument(database, {
      source: SOURCE,
      name: `${hash}.md`,
      status: "pending",
      hash,
      meta: { title: hash },
      similarities,
    });
  const publish = (id) => service.rpc("kb_publish_document", { document_id: id });
  const published = async (id) => {
    const { status, body } = await publish(id);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const documents = async () => (await database.query("select * from kb_documents order by created_at")).rows;
  const contents = async () =>
    (
      await as(database, { ...user(alice.id), role: "evidence_chat" }, (transaction) =>
        transaction.query("select content from kb_chunks order by ordinal"),
      )
    ).rows.map((row) => row.content);

  test("the first version of a source becomes ready under its own id", async () => {
    const first = await pendingVersion("v1");
    assert.deepEqual(await contents(), []);
    assert.equal(await published(first.id), first.id);
    assert.deepEqual(await contents(), ["v1.md v1 0", "v1.md v1 1"]);
  });

  test("a new version replaces the chunks and keeps the id", async () => {
    const first = await pendingVersion("v1", [0.9, 0.8, 0.7]);
    await published(first.id);
    const second = await pendingVersion("v2");
    assert.equal(await published(second.id), first.id);

    const [document, ...others] = await documents();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [document.id, document.status, document.name, document.content_hash, document.meta],
      [first.id, "ready", "v2.md", "v2", { title: "v2" }],
    );
    const chunks = (await service.select("kb_chunks", "order=ordinal")).body;
    assert.deepEqual(
      chunks.map((row) => row.id),
      second.chunkIds,
    );
    assert.equal((await service.select("kb_embeddings")).body.length, 2);
  });

  test("a document that an admin disabled stays disabled in its new version", async () => {
    const first = await pendingVersion("v1");
    await published(first.id);
    await service.update("kb_documents", `id=eq.${first.id}`, { enabled: false });
    await published((await pendingVersion("v2")).id);
    const [document] = await documents();
    assert.deepEqual([document.content_hash, document.enabled], ["v2", false]);
  });

  describe("audience of a new version", () => {
    const [A, B, C] = [["team:a"], ["team:b"], ["team:c"]];
    // The audience: stated by the source at first, in the row after an edit in the dashboard, stated now, and expected.
    const cases = {
      "is the one that the source states first": [null, null, A, A],
      "is the one that the source states now": [A, A, B, B],
      "stays the one of the dashboard while the source states the same": [A, B, A, B],
      "stays removed in the dashboard while the source states the same": [A, null, A, null],
      "stays the one of the dashboard while the source states none": [null, B, null, B],
      "is the new one of the source, not the one of the dashboard": [A, B, C, C],
      "is the new one of the source, although the dashboard removed the old one": [A, null, C, C],
      "stays the one of the source when the source no longer states one": [A, A, null, A],
      "stays the one of the dashboard when the source no longer states one": [A, B, null, B],
      "is everybody if neither the source nor the dashboard states one": [null, null, null, null],
    };
    for (const [title, [stated, column, statedNow, expected]] of Object.entries(cases)) {
      test(`the audience of a new version ${title}`, async () => {
        const version = (hash, audience) =>
          writeDocument(database, {
            source: SOURCE,
            status: "pending",
            hash,
            audience,
            meta: audience ? { title: hash, audience } : { title: hash },
          });
        const { id } = await version("v1", stated);
        await published(id);
        await service.update("kb_documents", `id=eq.${id}`, { audience: column });
        await published((await version("v2", statedNow)).id);
        const [document] = await documents();
        assert.deepEqual(
          [document.id, document.content_hash, document.audience, document.meta.audience ?? null],
          [id, "v2", expected, statedNow],
        );
        // Another version with the same statement of the source does not change the audience.
        await published((await version("v3", statedNow)).id);
        assert.deepEqual((await documents())[0].audience, expected);
        const { rows } = await database.query("select distinct audience from kb_chunks");
        assert.deepEqual(rows, [{ audience: expected }]);
      });
    }
  });

  test("documents of other sources are untouched", async () => {
    const other = await writeDocument(database, { source: "other.md" });
    await published((await pendingVersion("v1")).id);
    const { rows } = await database.query("select id from kb_chunks where document_id = $1", [other.id]);
    assert.deepEqual(
      rows.map((row) => row.id),
      other.chunkIds,
    );
  });

  test("an incomplete document is rejected and the published version stays", async () => {
    const first = await pendingVersion("v1");
    await published(first.id);
    const incomplete = await pendingVersion("v2", [0.9, null, null]);
    const { status, body } = await publish(incomplete.id);
    assert.ok(status >= 400);
    assert.match(body.message, /is incomplete: 2 of 3 chunks have no embedding/);
    assert.deepEqual(await contents(), ["v1.md v1 0", "v1.md v1 1"]);
    assert.equal((await documents()).find((row) => row.id === incomplete.id).status, "pending");
  });

  test("a document without chunks is rejected", async () => {
    const { body } = await publish((await pendingVersion("empty", [])).id);
    assert.match(body.message, /has no chunks/);
  });

  test("a document that is not pending is rejected", async () => {
    const first = await pendingVersion("v1");
    await published(first.id);
    assert.match((await publish(first.id)).body.message, /is ready, only a pending document can be published/);
    const failed = await writeDocument(database, { status: "failed" });
    assert.match((await publish(failed.id)).body.message, /is failed, only a pending document can be published/);
  });

  test("an unknown document is rejected", async () => {
    const id = crypto.randomUUID();
    assert.match((await publish(id)).body.message, new RegExp(`document ${id} does not exist`));
  });

  test("a failure during publication leaves the published version unchanged", async () => {
    const first = await pendingVersion("v1");
    await published(first.id);
    const second = await pendingVersion("v2");
    // A publish deletes the old chunks before it updates the ready row. Make that update fail.
    await database.exec(`
      create function fail_on_v2() returns trigger language plpgsql as $$ begin raise exception 'disk on fire'; end $$;
      create trigger fail_on_v2 before update on kb_documents for each row
        when (new.content_hash = 'v2' and new.status = 'ready') execute function fail_on_v2()`);
    try {
      assert.match((await publish(second.id)).body.message, /disk on fire/);
    } finally {
      await database.exec("drop function fail_on_v2 cascade");
    }
    assert.deepEqual(await contents(), ["v1.md v1 0", "v1.md v1 1"]);
    assert.equal((await documents()).length, 2);
    assert.equal(await published(second.id), first.id);
  });

  test("of two publishes at the same time the later one wins and both name the same document", async () => {
    const first = await pendingVersion("v1");
    const second = await pendingVersion("v2");
    const ids = await Promise.all([published(first.id), published(second.id)]);
    assert.equal(ids[0], ids[1]);
    const [document, ...others] = await documents();
    assert.deepEqual(others, []);
    assert.deepEqual(
      await contents(),
      [0, 1].map((ordinal) => `${document.name} ${document.content_hash} ${ordinal}`),
    );
  });

  test("the same document published twice at the same time is published once", async () => {
    const first = await pendingVersion("v1");
    const statuses = (await Promise.all([publish(first.id), publish(first.id)])).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1);
  });

  test("the new version replaces language, words and sentences", async () => {
    const version = (hash, language, content) =>
      writeDocument(database, {
        source: SOURCE,
        status: "pending",
        hash,
        language,
        contents: [content],
        sentences: [[{ start: 0, end: 3, similarity: 0.5 }]],
      });
    const first = await version("v1", "english", "old houses");
    await published(first.id);
    const second = await version("v2", "german", "Die Häuser");
    await published(second.id);
    assert.deepEqual(
      (await documents()).map((row) => [row.id, row.language]),
      [[first.id, "german"]],
    );
    const { kept, counted } = await lexemeCounts(database);
    assert.deepEqual(kept, counted);
    assert.deepEqual(
      kept.map((row) => [row.lexeme, row.language, row.chunks]),
      [
        ["", "german", 1],
        [" ", "german", 1],
        ["haus", "german", 1],
      ],
    );
    const { rows } = await database.query("select chunk_id from kb_sentences");
    assert.deepEqual(rows, [{ chunk_id: second.chunkIds[0] }]);
  });

  test("only the service role may publish", async () => {
    const { id } = await pendingVersion("v1");
    for (const [client, status] of [
      [anon, 401],
      [alice, 403],
    ]) {
      const answer = await client.rpc("kb_publish_document", { document_id: id });
      assert.equal(answer.status, status);
      assert.equal(answer.body.code, "42501");
    }
  });
}

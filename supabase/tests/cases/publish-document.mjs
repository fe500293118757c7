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
    return body.id;
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
        const version = async (hash, audience) => {
          const meta = audience ? { title: hash, audience } : { title: hash };
          const document = await writeDocument(database, { source: SOURCE, status: "pending", hash, audience, meta });
          // The text is the same.
          await database.query("update kb_documents set sketch = '{1,2,3,4}' where id = $1", [document.id]);
          return document;
        };
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

  describe("a text that is hidden or restricted", () => {
    const TEAM = ["team:a"];
    /** Writes a version with a sample of hashes of its text, and publishes it. */
    const write = async (source, sketch, { audience = /** @type {string[] | null} */ (null) } = {}) => {
      const meta = audience ? { audience } : {};
      const { id } = await writeDocument(database, { source, status: "pending", audience, meta });
      await database.query("update kb_documents set sketch = $2 where id = $1", [id, sketch]);
      return (await publish(id)).body;
    };
    const change = (source, changes) => service.update("kb_documents", `source=eq.${source}`, changes);
    const state = async (source) => {
      const { rows } = await database.query("select enabled, audience from kb_documents where source = $1", [source]);
      return rows[0];
    };
    const HIDDEN = { enabled: false, audience: null };
    const VISIBLE = { enabled: true, audience: null };

    test("a copy of a hidden document is hidden, and a document with less than a quarter of its text is not", async () => {
      await write("a", [1, 2, 3, 4]);
      await change("a", { enabled: false });
      assert.equal((await write("copy", [1, 2, 3, 4])).restricted_like, "a");
      assert.deepEqual(await state("copy"), HIDDEN);
      await write("edited", [1, 7, 8, 9]);
      assert.deepEqual(await state("edited"), HIDDEN);
      assert.equal((await write("other", [1, 10, 11, 12, 13])).restricted_like, null);
      assert.deepEqual(await state("other"), VISIBLE);
    });

    test("a copy of a document that was restricted in the dashboard has its audience, or is hidden if it states another", async () => {
      await write("a", [1, 2]);
      await change("a", { audience: TEAM });
      await write("copy", [1, 2]);
      await write("for more", [1, 2], { audience: ["team:b", ...TEAM] });
      await write("for others", [1, 2], { audience: ["team:b"] });
      assert.deepEqual(await state("copy"), { enabled: true, audience: TEAM });
      assert.deepEqual(await state("for more"), { enabled: true, audience: TEAM });
      assert.deepEqual(await state("for others"), { enabled: false, audience: ["team:b"] });
    });

    test("a copy that is for fewer than a document that was restricted in the dashboard stays so", async () => {
      await write("a", [1, 2]);
      await change("a", { audience: ["team:b", ...TEAM] });
      await write("copy", [1, 2], { audience: TEAM });
      assert.deepEqual(await state("copy"), { enabled: true, audience: TEAM });
    });

    test("a copy of a document that its source restricts has its own audience", async () => {
      await write("a", [1, 2], { audience: TEAM });
      await write("copy", [1, 2]);
      assert.deepEqual(await state("copy"), VISIBLE);
    });

    test("a hidden text stays hidden when its name is reused, also in a later run", async () => {
      await write("a", [1, 2]);
      await change("a", { enabled: false });
      await write("a", [3, 4]);
      await write("former", [1, 2]);
      await write("b", [5, 6]);
      assert.equal((await write("b", [3, 4])).restricted_like, "a");
      for (const source of ["a", "former", "b"]) assert.deepEqual(await state(source), HIDDEN);
    });

    test("a text stays visible to those who have it in another document, and a change of that does not hide it", async () => {
      await write("a", [1, 2]);
      await write("duplicate", [1, 2]);
      await write("team", [5, 6], { audience: TEAM });
      await write("team duplicate", [5, 6], { audience: TEAM });
      await change("duplicate", { enabled: false });
      await change("team duplicate", { enabled: false });
      await write("third", [1, 2]);
      await write("a", [1, 3]);
      assert.deepEqual([await state("third"), await state("a")], [VISIBLE, VISIBLE]);
      // Only the team has it.
      await write("for everybody", [5, 6]);
      assert.deepEqual(await state("for everybody"), { enabled: false, audience: TEAM });
    });

    test("a text that was replaced before its document was shown again is hidden as long as another document hides it", async () => {
      await write("a", [1, 2]);
      await change("a", { enabled: false });
      await write("copy", [1, 2]);
      await write("a", [3, 4]);
      await change("a", { enabled: true });
      await write("third", [1, 2]);
      assert.deepEqual([await state("a"), await state("third")], [VISIBLE, HIDDEN]);
    });

    test("a text that is a little nearer to a hidden document than to a visible one is hidden", async () => {
      await write("a", [1, 2, 3, 4]);
      await write("b", [1, 2, 3, 5]);
      await change("b", { enabled: false });
      await write("copy", [1, 2, 3, 5]);
      assert.deepEqual(await state("copy"), HIDDEN);
    });
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

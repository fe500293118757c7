import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, describe, test } from "node:test";
import {
  clearKnowledgeBase,
  embeddingWithSimilarity,
  QUERY,
  renewVectors,
  writeDocument,
} from "../support/knowledge-base.mjs";
import { ANON, as, become, SERVICE, user } from "../support/roles.mjs";
import { newTurn, RECORD_TURN } from "../support/turn.mjs";

const SALES = ["team:sales"];

/** Restricted documents: membership of an audience, and what other users must not learn. */
export function audiences({ database }) {
  afterEach(() => clearKnowledgeBase(database));

  const nobody = user(randomUUID());
  const inTeam = (team) => user(randomUUID(), { app_metadata: { team } });
  /**
   * The rows that a user finds.
   * @param {import("../support/roles.mjs").Caller} who
   * @param {{ text?: string | null, count?: number, vector?: string }} [options]
   */
  const search = (who, { text = null, count = 5, vector = QUERY } = {}) =>
    as(database, who, async (transaction) => {
      const sql = "select * from match_chunks($1, $2, -1, $3)";
      return (await transaction.query(sql, [vector, count, text])).rows;
    });
  const found = async (who, options) => (await search(who, options)).map((row) => row.content);
  const sees = async (who) =>
    as(
      database,
      // Users may not read the table, so this runs as the role of the functions that they call.
      { ...who, role: "evidence_chat" },
      async (transaction) => (await transaction.query("select id from kb_documents")).rows.length === 1,
    );

  describe("membership of an audience", () => {
    const entries = async (claims) => {
      const caller = typeof claims === "string" ? { role: "authenticated", claims } : user(randomUUID(), claims);
      const rows = await as(database, caller, async (transaction) => {
        return (await transaction.query("select internal.kb_caller_audiences() as list")).rows;
      });
      return rows[0].list.filter((entry) => !/^(role|sub|is_anonymous):/.test(entry)).sort();
    };
    const cases = {
      "a string": [{ app_metadata: { team: "sales" } }, ["team:sales"]],
      "a list": [{ app_metadata: { team: ["sales", "it"] } }, ["team:it", "team:sales"]],
      "a number": [{ app_metadata: { level: 3 } }, ["level:3"]],
      "a boolean": [{ app_metadata: { staff: true } }, ["staff:true"]],
      "several claims": [{ app_metadata: { a: "x", b: "y" } }, ["a:x", "b:y"]],
      "a claim outside app_metadata": [{ groups: ["admins"] }, ["groups:admins"]],
      "a claim with a namespace": [{ "https://example.com/roles": ["hr"] }, ["https://example.com/roles:hr"]],
      "the same claim in two places": [{ team: "sales", app_metadata: { team: "sales" } }, ["team:sales"]],
      "an object": [{ app_metadata: { team: { name: "sales" } }, org: { team: "sales" } }, []],
      "an object in a list": [{ app_metadata: { team: [{ sales: "sales" }, ["sales"], null] } }, []],
      "a value that is null": [{ app_metadata: { team: null }, team: null }, []],
      "app_metadata that is not an object": [{ app_metadata: "sales" }, ["app_metadata:sales"]],
      "claims that users can set": [
        {
          email: "sales@example.com",
          phone: "1",
          user_metadata: { team: "sales" },
          nickname: "sales",
          app_metadata: { email: "sales", user_metadata: "sales" },
        },
        [],
      ],
      "no claims": ["", []],
      "claims that are not JSON": ["{team: sales", []],
      "claims that are not an object": ['["team:sales"]', []],
      "claims that are null": ["null", []],
      "a character that Postgres cannot store": ['{"sub": "x", "team": "\\u0000"}', []],
    };
    for (const [title, [claims, expected]] of Object.entries(cases)) {
      test(`a token with ${title} has the audiences ${JSON.stringify(expected)}`, async () =>
        assert.deepEqual(await entries(claims), expected));
    }

    test("a user whose claim lists 10,000 values sees a document for one of them", async () => {
      const team = Array.from({ length: 10_000 }, (_, index) => `team ${index}`);
      assert.equal((await entries({ app_metadata: { team } })).length, 10_000);
      await writeDocument(database, { audience: ["team:team 9999"] });
      assert.equal(await sees(inTeam(team)), true);
    });

    test("a session without a token has no audiences", async () => {
      const { rows } = await database.query("select internal.kb_caller_audiences() as list");
      assert.deepEqual(rows, [{ list: [] }]);
    });
  });

  describe("documents", () => {
    test("a user with one of the document's audiences sees it", async () => {
      await writeDocument(database, { audience: ["team:sales", "team:support"] });
      assert.equal(await sees(inTeam(["it", "support"])), true);
      assert.equal(await sees(inTeam("it")), false);
      assert.equal(await sees(nobody), false);
    });

    test("values are compared exactly", async () => {
      await writeDocument(database, { audience: SALES });
      for (const team of ["Sales", "sales ", "sale", "sales%", "team:sales"]) {
        assert.equal(await sees(inTeam(team)), false, team);
      }
    });

    test("an audience does not reveal documents that are disabled or not ready", async () => {
      await writeDocument(database, { audience: SALES, enabled: false });
      await writeDocument(database, { audience: SALES, status: "pending" });
      assert.deepEqual(await found(inTeam("sales")), []);
      const tables = ["kb_documents", "kb_chunks", "kb_embeddings"];
      for (const table of tables) {
        const rows = await as(database, { ...inTeam("sales"), role: "evidence_chat" }, async (transaction) => {
          return (await transaction.query(`select * from ${table}`)).rows;
        });
        assert.deepEqual(rows, [], table);
      }
    });

    /** @type {Record<string, [audience: any[], constraint: string]>} */
    const refused = {
      "an empty list": [[], "never_empty"],
      "an entry without a claim": [[":sales"], "claim_colon_value"],
      "an entry without a value": [["team:"], "claim_colon_value"],
      "an entry without a colon": [["sales"], "claim_colon_value"],
      "a space after the colon": [["team: sales"], "claim_colon_value"],
      "a space at the end": [["team:sales "], "claim_colon_value"],
      "an empty entry": [["team:sales", ""], "claim_colon_value"],
      "a null among the entries": [["team:sales", null], "claim_colon_value"],
      "a long entry": [[`team:${"a".repeat(300)}`], "claim_colon_value"],
      "too many entries": [Array.from({ length: 101 }, (_, index) => `team:${index}`), "claim_colon_value"],
      "a list of lists": [[["team:sales"], ["team:it"]], "claim_colon_value"],
      "an e-mail address": [["email:sales@example.com"], "not_user_editable"],
      "a claim of user_metadata": [["user_metadata:sales"], "not_user_editable"],
    };
    for (const [title, [audience, constraint]] of Object.entries(refused)) {
      test(`${title} is rejected as an audience, and the constraint names the reason`, async () => {
        await assert.rejects(
          writeDocument(database, { audience }),
          new RegExp(`kb_documents_audience_\\w*${constraint}`),
        );
      });
    }
  });

  describe("search", () => {
    const write = (content, similarity, options = {}) =>
      writeDocument(database, {
        contents: [content],
        similarities: [similarity],
        sentences: [[{ start: 0, end: 3, similarity }]],
        ...options,
      });

    for (const text of [null, "kettle"]) {
      const title = text ? "by meaning and by words" : "by meaning";

      test(`${title}: each user finds public documents and those of their audiences`, async () => {
        await write("kettle for everybody", 0.7);
        await write("kettle for sales", 0.8, { audience: SALES });
        await write("kettle for it", 0.9, { audience: ["team:it"] });
        const options = { text };
        assert.deepEqual(await found(nobody, options), ["kettle for everybody"]);
        assert.deepEqual(await found(inTeam("sales"), options), ["kettle for sales", "kettle for everybody"]);
        assert.deepEqual(await found(inTeam(["sales", "it"]), options), [
          "kettle for it",
          "kettle for sales",
          "kettle for everybody",
        ]);
        assert.equal((await found(SERVICE, options)).length, 3);
        await assert.rejects(found(ANON, options), { code: "42501" });
        const rows = await search(inTeam("sales"), options);
        assert.ok(rows.every((row) => row.sentences.length === 1));
      });

      test(`${title}: a change of the audience takes effect at once`, async () => {
        const { id } = await write("kettle", 0.9);
        for (const [audience, expected] of [
          [SALES, [[], ["kettle"], []]],
          [["team:it"], [[], [], ["kettle"]]],
          [null, [["kettle"], ["kettle"], ["kettle"]]],
        ]) {
          await database.query("update kb_documents set audience = $1 where id = $2", [audience, id]);
          const seen = [];
          for (const who of [nobody, inTeam("sales"), inTeam("it")]) seen.push(await found(who, { text }));
          assert.deepEqual(seen, expected, String(audience));
        }
      });

      test(`${title}: nearer chunks for others do not crowd out the caller's own`, async () => {
        const crowd = (count, options) =>
          writeDocument(database, {
            contents: Array(count).fill("kettle kettle"),
            similarities: Array(count).fill(0.99),
            ...options,
          });
        await crowd(400, { audience: ["team:it"] });
        await write("kettle for everybody", 0.3);
        await write("kettle for sales", 0.2, { audience: SALES });
        const options = { text, count: 2 };
        assert.deepEqual(await found(nobody, options), ["kettle for everybody"]);
        assert.deepEqual(await found(inTeam("sales"), options), ["kettle for everybody", "kettle for sales"]);
      });
    }

    test("the words of restricted documents affect the weights of nobody's question", async () => {
      await write("the kettle is hot", 0.5);
      const terms = async () =>
        (await search(nobody, { text: "is the merger with kettle and acquisition hot" }))[0].query_terms;
      const before = await terms();
      for (let copy = 0; copy < 5; copy++) await write("the merger and the acquisition", 0.5, { audience: SALES });
      const after = await terms();
      const weights = (list) => Object.fromEntries(list.map(({ word, weight }) => [word, weight]));
      // Both words are unknown, and neither differs from a word that occurs nowhere.
      assert.equal(weights(after).merger, weights(after).acquisition);
      assert.deepEqual(Object.keys(weights(after)), Object.keys(weights(before)));
      assert.ok(weights(after).merger > weights(after).kettle);
      // The weights do not reveal the number of restricted passages either.
      assert.deepEqual(after, before);
      const unknown = (await search(nobody, { text: "the merger and the zeppelin" }))[0].query_terms;
      assert.equal(weights(unknown).merger, weights(unknown).zeppelin);
    });

    test("the languages of documents that a user cannot find do not affect the words of their question", async () => {
      const outsider = user(randomUUID(), { is_anonymous: true, app_metadata: { team: "it" } });
      const words = async (who) =>
        (await search(who, { text: "quando sarà la fusione della società" }))[0].query_terms.map(({ word }) => word);
      await write("the kettle is hot", 0.5);
      await write("the kettle is cold", 0.5, { audience: ["team:it"] });
      const all = ["quando", "sarà", "la", "fusione", "della", "società"];
      for (const who of [nobody, inTeam("sales"), outsider, SERVICE]) assert.deepEqual(await words(who), all);
      const italian = await write("la fusione della società", 0.4, { language: "it", audience: SALES });
      for (const who of [nobody, outsider]) assert.deepEqual(await words(who), all);
      for (const who of [inTeam("sales"), SERVICE])
        assert.deepEqual(await words(who), ["quando", "fusione", "società"]);
      await database.query("update kb_documents set audience = null where id = $1", [italian.id]);
      assert.deepEqual(await words(outsider), all);
      for (const who of [nobody, SERVICE]) assert.deepEqual(await words(who), ["quando", "fusione", "società"]);
    });

    test("words that occur only in restricted documents find them for users who may see them", async () => {
      await write("about bicycles", 0.4);
      await write("merger of the kettle makers", 0.1, { audience: SALES });
      const rows = await search(inTeam("sales"), { text: "merger", vector: embeddingWithSimilarity(-1) });
      assert.ok(rows.find((row) => row.content.startsWith("merger")).lexical > 0.6);
      assert.equal(
        (await search(nobody, { text: "merger" })).every((row) => row.lexical === 0),
        true,
      );
    });

    test("the helpers return restricted chunks only to their audiences", async () => {
      const { chunkIds } = await write("kettle for sales", 0.9, { audience: SALES });
      const { rows } = await database.query(
        `select array(select c.chunk_id from internal.kb_chunk_sentences(array[$1]::uuid[], $2, '{team:it}', true) c) as sentences,
           internal.kb_nearest_restricted_chunks($2, '{team:it}', null, 5) as nearest,
           array(select w.chunk_id from internal.kb_search_by_words(
             internal.kb_parse_question('kettle', '{team:it}', true, 300), array[$1]::uuid[], '{team:it}', true, true, null, 300) w) as words`,
        [chunkIds[0], QUERY],
      );
      assert.deepEqual(rows, [{ sentences: [], nearest: null, words: [] }]);
    });
  });

  describe("history", () => {
    let alice;
    let session;

    before(async () => {
      const id = randomUUID();
      await database.query("insert into auth.users (id, email) values ($1, 'history@example.com')", [id]);
      alice = user(id, { app_metadata: { team: "it" } });
    });
    after(() => database.query("delete from auth.users where email = 'history@example.com'"));

    const record = async (citations, answerId = randomUUID()) => {
      session = randomUUID();
      await database.query("insert into chat_sessions (id, user_id) values ($1, $2)", [session, alice.claims.sub]);
      await database.query("insert into chat_messages (session_id, role, content) values ($1, 'user', 'question')", [
        session,
      ]);
      await database.query(
        "insert into chat_messages (session_id, id, role, content, citations) values ($1, $2, 'assistant', 'answer', $3)",
        [session, answerId, JSON.stringify(citations)],
      );
    };
    const history = (who = alice) =>
      as(database, who, async (transaction) => {
        const sql = "select content from chat_messages where session_id = $1 order by created_at";
        return (await transaction.query(sql, [session])).rows.map((row) => row.content);
      });
    const cite = (...ids) => ids.map((document_id, index) => ({ index: index + 1, document_id }));

    test("an answer is hidden while it cites a document of another audience", async () => {
      const open = await writeDocument(database);
      const closed = await writeDocument(database, { audience: SALES });
      await record(cite(open.id, closed.id));
      assert.deepEqual(await history(), ["question"]);
      assert.deepEqual(await history(user(alice.claims.sub, { team: "sales" })), ["question", "answer"]);
      assert.deepEqual(await history(SERVICE), ["question", "answer"]);
      await database.query("update kb_documents set audience = '{team:it}' where id = $1", [closed.id]);
      assert.deepEqual(await history(), ["question", "answer"]);
    });

    const inSales = () => user(alice.claims.sub, { team: "sales" });
    for (const [title, remove] of Object.entries({
      deleted: (id) => database.query("select kb_delete_documents(array[$1]::uuid[])", [id]),
      "deleted with all others": () => database.exec("truncate kb_documents cascade"),
      "deleted by the service role": (id) =>
        database.transaction(async (transaction) => {
          await become(transaction, SERVICE);
          await transaction.query("delete from kb_documents where id = $1", [id]);
        }),
    })) {
      test(`a document hides answers by its audience in every status, also when ${title}`, async () => {
        for (const state of [{}, { enabled: false }, { status: "pending" }, { status: "failed" }]) {
          const closed = await writeDocument(database, { audience: SALES, ...state });
          await record(cite(closed.id));
          assert.deepEqual(await history(), ["question"]);
          await remove(closed.id);
          assert.deepEqual(await history(), ["question"], JSON.stringify(state));
          assert.deepEqual(await history(inSales()), ["question", "answer"]);
        }
      });
    }

    test("a document that is deleted and added again shows its old quotes to its old audience", async () => {
      const source = "handbook/prices.md";
      const closed = await writeDocument(database, { source, audience: SALES });
      await record(cite(closed.id));
      await database.query("delete from kb_documents where id = $1", [closed.id]);
      await writeDocument(database, { source });
      assert.deepEqual(await history(), ["question"]);
      assert.deepEqual(await history(inSales()), ["question", "answer"]);
    });

    test("a document that is added again under its id counts with its present audience, and after deletion with its last one", async () => {
      const { id, source } = await writeDocument(database, { audience: SALES });
      const restore = (audience) =>
        database.query("insert into kb_documents (id, source, status, audience) values ($1, $2, 'ready', $3)", [
          id,
          source,
          audience,
        ]);
      await record(cite(id));
      await database.query("delete from kb_documents");
      await restore(null);
      assert.deepEqual(await history(), ["question", "answer"]);
      await database.query("update kb_documents set audience = '{team:hr}'");
      await database.query("delete from kb_documents");
      assert.deepEqual(await history(inSales()), ["question"]);
      assert.deepEqual(await history(user(alice.claims.sub, { team: "hr" })), ["question", "answer"]);
    });

    test("only restricted documents that somebody may have seen are remembered after deletion", async () => {
      const remembered = async () =>
        (await database.query("select id, audience from internal.kb_restricted_documents")).rows;
      await database.exec("delete from internal.kb_restricted_documents");
      const source = "handbook/prices.md";
      const closed = await writeDocument(database, { source, audience: SALES });
      await writeDocument(database);
      await writeDocument(database, { source, audience: SALES, status: "failed" });
      for (let version = 0; version < 3; version++) {
        const { id } = await writeDocument(database, { source, audience: SALES, status: "pending" });
        await database.query("select kb_publish_document($1)", [id]);
      }
      assert.deepEqual(await remembered(), []);
      await database.query("delete from kb_documents");
      assert.deepEqual(await remembered(), [{ id: closed.id, audience: SALES }]);
    });

    test("a deleted document for everybody hides nothing", async () => {
      await record(cite((await writeDocument(database)).id));
      await database.query("delete from kb_documents");
      assert.deepEqual(await history(), ["question", "answer"]);
    });

    test("a disabled document for everybody hides nothing", async () => {
      await record(cite((await writeDocument(database, { enabled: false })).id));
      assert.deepEqual(await history(), ["question", "answer"]);
    });

    test("citations of any shape are accepted without an error", async () => {
      const { id } = await writeDocument(database, { audience: SALES });
      for (const citations of [
        [],
        [null, 1, "a", [], {}, { document_id: 5 }, { document_id: "x" }, { document_id: { id } }],
        [{ document_id: `${id} ` }, { document_id: id.replaceAll("-", "") }],
      ]) {
        await record(citations);
        assert.deepEqual(await history(), ["question", "answer"], JSON.stringify(citations));
      }
      await record([{ document_id: id.toUpperCase() }, { document_id: id }]);
      assert.deepEqual(await history(), ["question"]);
    });

    test("a turn that is repeated while its answer is hidden is written once", async () => {
      const { id } = await writeDocument(database, { audience: SALES });
      const answerId = randomUUID();
      await record(cite(id), answerId);
      const contents = await as(database, alice, async (transaction) => {
        await transaction.query(RECORD_TURN, [
          newTurn({ session_id: session, title: null, answer_id: answerId, citations: cite(id) }),
        ]);
        await transaction.query("select set_config('role', 'service_role', true)");
        return (await transaction.query("select content from chat_messages where session_id = $1", [session])).rows;
      });
      assert.equal(contents.length, 2);
    });

    test("a user can delete a session with hidden answers completely", async () => {
      const { id } = await writeDocument(database, { audience: SALES });
      await record(cite(id));
      const left = await as(database, alice, async (transaction) => {
        await transaction.query("delete from chat_sessions where id = $1", [session]);
        await transaction.query("select set_config('role', 'service_role', true)");
        return (await transaction.query("select from chat_messages where session_id = $1", [session])).rows;
      });
      assert.deepEqual(left, []);
    });
  });

  test("new vectors keep the audience", async () => {
    const { chunkIds } = await writeDocument(database, { contents: ["kettle"], audience: SALES });
    await database.query("update kb_chunks set content = 'teapot' where id = $1", [chunkIds[0]]);
    assert.deepEqual(await found(inTeam("sales")), []);
    await renewVectors(database, chunkIds);
    assert.deepEqual(await found(inTeam("sales")), ["teapot"]);
    assert.deepEqual(await found(nobody), []);
  });
}

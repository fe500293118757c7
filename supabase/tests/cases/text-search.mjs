import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { clearKnowledgeBase, QUERY, renewVectors, writeDocument } from "../support/knowledge-base.mjs";

/** Ranking by words and vectors together. */
export function textSearch({ database, alice, service }) {
  const search = async (query_text, parameters = {}, client = alice) => {
    const { status, body } = await client.rpc("match_chunks", { query_embedding: QUERY, query_text, ...parameters });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const all = { match_count: 100, match_threshold: -1 };

  describe("accents", () => {
    afterEach(() => clearKnowledgeBase(database));
    const lexical = async (language, content, question) => {
      await writeDocument(database, { language, contents: [content], similarities: [0.5] });
      return (await search(question))[0].lexical;
    };

    test("accents make no difference in English and unknown languages", async () => {
      assert.ok((await lexical("english", "Céloron led an expedition.", "celoron")) > 0);
      await clearKnowledgeBase(database);
      assert.ok((await lexical("english", "Celoron led an expedition.", "Ce\u0301loron")) > 0);
      await clearKnowledgeBase(database);
      assert.ok((await lexical("klingon", "Ångström", "angstrom")) > 0);
    });

    test("composed and decomposed accents are equal", async () => {
      assert.ok((await lexical("german", "Müller pflanzt Bäume.".normalize("NFD"), "Bäume".normalize("NFC"))) > 0);
    });

    test("accents are kept where the stemmer handles them, and in scripts where they form another letter", async () => {
      assert.ok((await lexical("german", "Die Äpfel sind reif.", "Apfel")) > 0, "the German stemmer removes umlauts");
      await clearKnowledgeBase(database);
      assert.equal(await lexical("english", "мой", "мои"), 0);
    });
  });

  describe("small corpus", () => {
    // In a language without a stemmer, so that the expected numbers do not depend on one.
    const contents = [
      "red green blue",
      "red red red green",
      "yellow",
      "green yellow yellow",
      "blue red red yellow green",
      "violet",
    ];
    const similarities = [0.5, 0.3, 0.8, 0.6, 0.4, 0.28];
    const question = "Red yellow VIOLET red unknown?";
    let document;

    before(async () => {
      document = await writeDocument(database, { language: "simple", contents, similarities });
    });
    after(() => clearKnowledgeBase(database));

    const occurrences = (content, word) => content.split(" ").filter((other) => other === word).length;
    const idf = (word) => {
      const having = contents.filter((content) => occurrences(content, word) > 0).length;
      return Math.log(1 + (contents.length - having + 0.5) / (having + 0.5));
    };
    const expectedLexical = (content) => {
      const words = ["red", "yellow", "violet", "unknown"];
      let found = 0;
      for (const word of words) {
        let rank = 0;
        for (let count = 1; count <= occurrences(content, word); count++) rank += 1 / (count * count);
        found += (idf(word) * rank) / (Math.PI ** 2 / 6);
      }
      return found / words.reduce((sum, word) => sum + idf(word), 0);
    };
    const close = (actual, expected) => assert.ok(Math.abs(actual - expected) < 1e-6, `${actual}, not ${expected}`);

    test("lexical is the idf-weighted share of the question's words, saturating with their frequency", async () => {
      const rows = await search(question, all);
      assert.equal(rows.length, contents.length);
      for (const row of rows) close(row.lexical, expectedLexical(contents[row.ordinal]));
    });

    test("without sentences the score is the mean of twice the similarity and lexical", async () => {
      for (const row of await search(question, all)) close(row.score, (2 * row.similarity + row.lexical) / 3);
    });

    test("rows are ordered by score, then by chunk id", async () => {
      const rows = await search(question, all);
      const byScore = [...rows].sort((a, b) => b.score - a.score || (a.chunk_id < b.chunk_id ? -1 : 1));
      assert.deepEqual(rows, byScore);
      assert.notDeepEqual(
        rows.map((row) => row.ordinal),
        (await search(null, all)).map((row) => row.ordinal),
      );
      assert.deepEqual(await search(question, { ...all, match_count: 2 }), rows.slice(0, 2));
    });

    test("every row lists the words of the question once each, in order and with weights", async () => {
      for (const { query_terms } of await search(question, all)) {
        assert.deepEqual(
          query_terms.map(({ word }) => word),
          ["red", "yellow", "violet", "unknown"],
        );
        for (const { word, weight } of query_terms) close(weight, idf(word));
      }
    });

    test("the threshold is inclusive and applies to the similarity of every row", async () => {
      const { similarity } = (await search(question, all)).find((row) => row.ordinal === 3);
      const ordinals = async (match_threshold) =>
        (await search(question, { ...all, match_threshold })).map((row) => row.ordinal).sort();
      assert.deepEqual(await ordinals(similarity), [2, 3]);
      assert.deepEqual(await ordinals(similarity + Number.EPSILON), [2]);
    });

    test("the service role and users get the same rows", async () => {
      assert.deepEqual(await search(question, all, service), await search(question, all));
    });

    test("hidden chunks never appear and change no weight", async () => {
      const expected = await search(question, all);
      const hidden = { language: "simple", contents: ["unknown violet", "red unknown"], similarities: [1, 0.99] };
      for (const state of [{ enabled: false }, { status: "pending" }, { status: "failed" }]) {
        await writeDocument(database, { ...hidden, ...state });
      }
      for (const client of [alice, service]) assert.deepEqual(await search(question, all, client), expected);
      await database.query("delete from kb_documents where id <> $1", [document.id]);
    });

    test("the words of a disabled document are gone from the next search", async () => {
      const other = await writeDocument(database, { language: "simple", contents: ["unknown"] });
      assert.equal((await search("unknown"))[0].document_id, other.id);
      await service.update("kb_documents", `id=eq.${other.id}`, { enabled: false });
      const rows = await search("unknown", all);
      assert.ok(rows.every((row) => row.document_id === document.id && row.lexical === 0));
      await service.remove("kb_documents", `id=eq.${other.id}`);
    });
  });

  describe("words", () => {
    afterEach(() => clearKnowledgeBase(database));
    const words = (rows) => rows[0].query_terms.map(({ word }) => word);

    test("a chunk with a distant vector is found by its words", async () => {
      const fillers = Array.from({ length: 80 }, (_, index) => `filler ${index}`);
      const similarities = fillers.map(() => 0.9);
      await writeDocument(database, { contents: fillers, similarities });
      const target = await writeDocument(database, { contents: ["The ferrule is loose."], similarities: [0.36] });
      const rows = await search("loose ferrule", { match_count: 100 });
      const row = rows.find(({ chunk_id }) => chunk_id === target.chunkIds[0]);
      assert.ok(row.lexical > 0.6, String(row.lexical));
    });

    test("other forms of a word count, and stop words do not", async () => {
      await writeDocument(database, { contents: ["Refunding takes five days."] });
      const [row] = await search("How long are the refunds taking?");
      assert.deepEqual(words([row]), ["refunds", "taking"]);
      assert.ok(row.lexical > 0.6, String(row.lexical));
    });

    test("question words that say nothing about the subject do not count, in English only", async () => {
      await writeDocument(database, { contents: ["Get many refunds."] });
      const english = await search("Could you please tell us when I get refunds, and how long that might often take?");
      assert.deepEqual(words(english), ["refunds", "take"]);
      await writeDocument(database, { language: "simple", contents: ["get refunds long", "please"] });
      assert.deepEqual(words(await search("get refunds long please")), ["get", "refunds", "long", "please"]);
    });

    test("the section of a chunk belongs to its words", async () => {
      await writeDocument(database, { contents: ["Five days."], section: "Refunds" });
      assert.ok((await search("refund"))[0].lexical > 0.6);
    });

    test("each document is searched in its own language", async () => {
      const german = await writeDocument(database, { language: "de", contents: ["Die Häuser sind alt"] });
      const english = await writeDocument(database, { language: "en-GB", contents: ["The houses are old"] });
      const unknown = await writeDocument(database, { language: "tlh", contents: ["the qachpu are old"] });
      const lexical = async (question) =>
        Object.fromEntries((await search(question)).map((row) => [row.document_id, row.lexical > 0]));
      assert.deepEqual(await lexical("ein Haus"), { [german.id]: true, [english.id]: false, [unknown.id]: false });
      assert.deepEqual(await lexical("a house"), { [german.id]: false, [english.id]: true, [unknown.id]: false });
      assert.deepEqual(await lexical("qachpu"), { [german.id]: false, [english.id]: false, [unknown.id]: true });
      // "are" is a stop word in English only; "simple" has no stop words.
      assert.deepEqual(await lexical("are"), { [german.id]: false, [english.id]: false, [unknown.id]: true });
    });

    test("the words of a question are weighted in the language that knows most of them", async () => {
      await writeDocument(database, { language: "german", contents: ["Die Häuser sind alt", "Die Stadt", "Der See"] });
      await writeDocument(database, { language: "english", contents: ["The houses are old"] });
      assert.deepEqual(words(await search("How old are the houses?")), ["old", "houses"]);
      assert.deepEqual(words(await search("Wie alt sind die Häuser?")), ["alt", "häuser"]);
    });

    test("a change of language takes effect on the next search", async () => {
      const { id } = await writeDocument(database, { language: "english", contents: ["Die Häuser"] });
      assert.equal((await search("Haus"))[0].lexical, 0);
      await service.update("kb_documents", `id=eq.${id}`, { language: "german" });
      assert.ok((await search("Haus"))[0].lexical > 0.6);
    });

    test("an edited chunk with new vectors is found by its new words and no longer by the old", async () => {
      const { chunkIds } = await writeDocument(database, { contents: ["kettle"] });
      await service.update("kb_chunks", `id=eq.${chunkIds[0]}`, { content: "teapot" });
      await renewVectors(database, chunkIds);
      assert.ok((await search("teapot"))[0].lexical > 0.6);
      assert.equal((await search("kettle"))[0].lexical, 0);
    });
  });

  describe("unusual questions", () => {
    const punctuated = `it's a "b\\c" <-> & | ! ( ) : *`;
    before(() => writeDocument(database, { contents: ["The kettle is hot.", `Odd: ${punctuated} C:\\temp\\it's`] }));
    after(() => clearKnowledgeBase(database));

    const withoutWords = {
      "an empty question": "",
      "stop words only": "what is it and who are they",
      emoji: "🫖🔥👩‍👩‍👧",
      "punctuation only": "' & | ! ( ) : * \\ <-> '' \"",
    };
    for (const [title, text] of Object.entries(withoutWords)) {
      test(`${title} has no words and ranks by vectors`, async () => {
        const rows = await search(text, all);
        assert.equal(rows.length, 2);
        for (const row of rows) assert.deepEqual([row.lexical, row.query_terms], [0, []]);
      });
    }

    const unusual = {
      "another script": "水壶有多热？ Насколько горячий чайник؟ كم حرارة",
      "tsquery syntax": "kettle & !hot | (kettle:*A <-> 'hot') \\",
      "an SQL injection": "kettle'); drop table kb_chunks; --",
      "a quoted backslash": "\\'kettle\\' '' \\\\ $$ $1 %s %I {kettle,\"hot\"}",
      "a path and an address": "C:\\temp\\it's /usr/it's http://it's.example/a?b='c' x@y.zz",
      "a word of 3,000 bytes": `${"k".repeat(3000)} kettle`,
      "a word of 3,000 bytes in two-byte letters": `${"ж".repeat(1500)} kettle`,
      "4,000 characters": "kettle hot stove ".repeat(240).slice(0, 4000),
      "800 different words": Array.from({ length: 800 }, (_, index) => `w${index.toString(36)}`).join(" "),
      "control characters": "kettle\u0001\u001f\u200b\u202e\ufeff\uffff",
      "half of a surrogate pair": "kettle \ud83d",
    };
    for (const [title, text] of Object.entries(unusual)) {
      test(`${title} is accepted`, async () => {
        const rows = await search(text, all);
        assert.equal(rows.length, 2);
        assert.ok(rows.every((row) => row.lexical >= 0 && row.lexical <= 1 && row.query_terms.length <= 64));
        if (text.includes("kettle")) assert.ok(rows[0].content.includes("kettle") && rows[0].lexical > 0);
      });
    }

    test("only the first 4,000 characters of a question count", async () => {
      const question = "kettle hot stove ".repeat(240).slice(0, 4000);
      assert.deepEqual(await search(question + "чайник ".repeat(10_000), all), await search(question, all));
    });

    test("words with quotes and backslashes are found", async () => {
      // The parser reads it as one file name.
      const [row] = await search("/temp/it's\\c");
      assert.ok(row.content.startsWith("Odd"), row.content);
    });
  });

  test("a chunk of maximum size with distinct words is found by its beginning", async () => {
    const distinct = Array.from({ length: 1000 }, (_, index) => index.toString(36))
      .join(" ")
      .padEnd(4089, "x");
    const { chunkIds } = await writeDocument(database, { language: "simple", contents: [`kettle ${distinct}`] });
    const [row] = await search("kettle");
    assert.equal(row.chunk_id, chunkIds[0]);
    assert.ok(row.lexical > 0.6);
    await clearKnowledgeBase(database);
  });
}

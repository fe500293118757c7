// What a reader says about a question, sent with it: with a server that is slow or lies, and a reader that fails.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { chatServer, json } from "./chat-server.mjs";

const SOURCES = new URL("../src/", import.meta.url);
const { MAX_READING_MS, PanelReader, readFor } = await importTs([
  new URL("client/read-for.ts", SOURCES),
  new URL("panel/reader/panel-reader.ts", SOURCES),
]);

const ID = "6f3c2b1a-0000-4000-8000-000000000001";
const PASSAGE = { chunk_id: ID, hash: "0123456789abcdef", heading: "Returns › Refunds", statements: ["One.", "Two."] };
const FIELDS = { embedding: [1, 0], message: "How long?", model: "model-1", truncated: true };
const never = () => new Promise(() => {});

let server;
afterEach(() => server?.close());

async function optionsFor(...handlers) {
  server = await chatServer(...handlers);
  return { endpoint: server.endpoint, assistant: "shop", tokenProvider: async () => "token" };
}

const found = (...passages) => json(200, { question: "How long?", passages });
const readerWith = (readPassages) => ({ readerFingerprint: "reader-1", readPassages });
const scoring = (...scores) => readerWith(async () => scores);
const panelReader = () => new PanelReader(() => assert.fail("nothing has crashed"));
const { signal } = new AbortController();

test("a reading has the score of each statement of the passages that the server finds for the question", async () => {
  const read = [];
  const reader = readerWith(async (question, passages) => {
    read.push({ question, passages });
    return [[1.25, null]];
  });
  const options = await optionsFor(json(200, { question: "How long? Refunds?", passages: [PASSAGE] }));
  const previous = { message: "Refunds?", embedding: [0, 1] };
  assert.deepEqual(await readFor({ ...FIELDS, previous }, reader, options, signal), {
    reader: "reader-1",
    passages: [{ chunk_id: ID, hash: PASSAGE.hash, z: [1.25, null] }],
  });
  assert.equal(read[0].question, "How long? Refunds?");
  assert.deepEqual(read[0].passages, [PASSAGE]);
  const [{ method, path, body }] = server.requests;
  assert.deepEqual([method, path], ["POST", "/api/search"]);
  const { message: query, embedding, model } = FIELDS;
  assert.deepEqual(JSON.parse(body), { query, embedding, model, previous, statements: true, assistant: "shop" });
});

test("numbers that the server rejects are not sent, and no decimals that it does not need", async () => {
  const options = await optionsFor(found({ ...PASSAGE, statements: ["a", "b", "c", "d"] }));
  const reading = await readFor(FIELDS, scoring([1e9, -Infinity, NaN, -1.2345678]), options, signal);
  assert.deepEqual(reading.passages[0].z, [100, -100, null, -1.23]);
});

test("a passage with another number of scores than statements is not sent", async () => {
  const other = { ...PASSAGE, chunk_id: ID.replace(/1$/, "2") };
  const options = await optionsFor(found(PASSAGE, other), found(PASSAGE), found(PASSAGE));
  const reading = await readFor(FIELDS, scoring([1], [1, 2]), options, signal);
  assert.deepEqual(
    reading.passages.map(({ chunk_id }) => chunk_id),
    [other.chunk_id],
  );
  assert.equal(await readFor(FIELDS, scoring([1]), options, signal), undefined);
  assert.equal(
    await readFor(
      FIELDS,
      readerWith(async () => null),
      options,
      signal,
    ),
    undefined,
  );
});

const HOSTILE = {
  "no question": { passages: [PASSAGE] },
  "a question that is no text": { question: 7, passages: [PASSAGE] },
  "a question that is longer than any": { question: "a".repeat(1e6), passages: [PASSAGE] },
  "no passages": { question: "q" },
  "the results of a search": { results: [] },
};
const UNREADABLE = {
  "an empty list": { question: "q", passages: [] },
  "passages that are no objects": { question: "q", passages: [null, 7, "a", []] },
  "an id that is none": { question: "q", passages: [{ ...PASSAGE, chunk_id: "../../etc" }] },
  "an id in capitals": { question: "q", passages: [{ ...PASSAGE, chunk_id: ID.toUpperCase() }] },
  "a hash that is none": { question: "q", passages: [{ ...PASSAGE, hash: "0123" }] },
  "no statements": { question: "q", passages: [{ ...PASSAGE, statements: [] }] },
  "too many statements": { question: "q", passages: [{ ...PASSAGE, statements: Array(401).fill("a") }] },
  "a statement that is no text": { question: "q", passages: [{ ...PASSAGE, statements: ["a", null] }] },
  "more text than any passage has": { question: "q", passages: [{ ...PASSAGE, statements: ["a".repeat(1e6)] }] },
};

const unread = readerWith(() => assert.fail("nothing is to be read"));

for (const [name, body] of Object.entries(HOSTILE)) {
  test(`a search response with ${name} gives no reading, and nothing is read`, async () => {
    assert.equal(await readFor(FIELDS, unread, await optionsFor(json(200, body)), signal), undefined);
  });
}

for (const [name, body] of Object.entries(UNREADABLE)) {
  test(`a search response with ${name} has nothing to read, which is no failure`, async () => {
    const reading = await readFor(FIELDS, unread, await optionsFor(json(200, body)), signal);
    assert.deepEqual(reading, { reader: "reader-1", passages: [] });
  });
}

test("at most five passages are read, each once", async () => {
  const passages = Array.from({ length: 9 }, (_, index) => ({ ...PASSAGE, chunk_id: ID.replace(/1$/, String(index)) }));
  const reader = readerWith(async (_question, found) => found.map(() => [1, 2]));
  const { passages: read } = await readFor(FIELDS, reader, await optionsFor(found(PASSAGE, ...passages)), signal);
  assert.equal(read.length, 5);
  assert.equal(new Set(read.map(({ chunk_id }) => chunk_id)).size, 5);
});

test("a search that fails, or a reader that does, gives no reading", async () => {
  const options = await optionsFor(json(400, {}), json(429, {}), json(500, {}), found(PASSAGE), found(PASSAGE));
  for (let failure = 0; failure < 3; failure++) {
    assert.equal(await readFor(FIELDS, scoring([1, 2]), options, signal), undefined);
  }
  const failing = readerWith(async () => {
    throw new Error("crashed");
  });
  const throwing = readerWith(() => {
    throw new Error("not a promise");
  });
  for (const reader of [failing, throwing]) assert.equal(await readFor(FIELDS, reader, options, signal), undefined);
  const unreachable = { ...options, endpoint: "http://127.0.0.1:9/api/chat" };
  assert.equal(await readFor(FIELDS, scoring([1, 2]), unreachable, signal), undefined);
});

test("what takes too long is given up after 600 ms, and aborted", async () => {
  assert.equal(MAX_READING_MS, 600);
  let isCut;
  const cut = new Promise((resolve) => (isCut = resolve));
  const options = await optionsFor((response) => response.on("close", isCut));
  const started = performance.now();
  assert.equal(await readFor(FIELDS, scoring([1, 2]), options, signal), undefined);
  const elapsed = performance.now() - started;
  assert.ok(elapsed >= 595 && elapsed < 900, `${elapsed} ms`);
  await cut;
});

test("a reader that takes too long is aborted; one that ignores that is not waited for", async () => {
  const options = await optionsFor(found(PASSAGE));
  /** @type {AbortSignal[]} */
  const signals = [];
  const slow = readerWith((_question, _passages, { signal }) => {
    signals.push(signal);
    return never();
  });
  assert.equal(await readFor(FIELDS, slow, options, signal), undefined);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true],
  );
});

test("an abort ends the reading at once", async () => {
  const options = await optionsFor(() => undefined);
  const stop = new AbortController();
  const started = performance.now();
  const reading = readFor(FIELDS, scoring([1, 2]), options, stop.signal);
  setTimeout(() => stop.abort(), 20);
  assert.equal(await reading, undefined);
  assert.ok(performance.now() - started < 500);
});

test("only the embedder that has the reader loaded reads", async () => {
  const options = await optionsFor(found(PASSAGE));
  const embedder = { ...scoring([1, 2]), loadReader: async () => undefined };
  const reader = panelReader();
  assert.equal(await reader.read(FIELDS, embedder, options, signal), undefined);
  await reader.load(embedder);
  assert.equal(await reader.read(FIELDS, { ...embedder }, options, signal), undefined);
  assert.equal(server.requests.length, 0);
  assert.equal((await reader.read(FIELDS, embedder, options, signal)).passages.length, 1);
});

test("a load that failed is not repeated, unless it was aborted", async () => {
  const failing = (code) => {
    const embedder = {
      ...scoring(),
      loads: 0,
      loadReader: async () => {
        embedder.loads++;
        throw Object.assign(new Error(code), { name: "EmbedderError", code });
      },
    };
    return embedder;
  };
  const reader = panelReader();
  const [aborted, broken] = [failing("aborted"), failing("integrity")];
  for (const embedder of [aborted, aborted, broken, broken, aborted]) await reader.load(embedder);
  assert.deepEqual([aborted.loads, broken.loads], [2, 1]);
  let crashes = 0;
  const crashing = new PanelReader(() => crashes++);
  for (const code of ["aborted", "crashed", "crashed"]) await crashing.load(failing(code));
  assert.equal(crashes, 1, "the embedder that has stopped is unloaded");
});

test("after two questions in a row without a reading, no question waits for one", async () => {
  const late = () => undefined;
  for (const miss of [late, json(403, {}), json(404, {})]) {
    const options = await optionsFor(miss, found(PASSAGE), miss, miss, found(PASSAGE));
    const embedder = { ...scoring([1, 2]), loadReader: async () => undefined };
    const reader = panelReader();
    await reader.load(embedder);
    const isRead = async () => (await reader.read(FIELDS, embedder, options, signal)) !== undefined;
    assert.deepEqual([await isRead(), await isRead(), await isRead(), await isRead()], [false, true, false, false]);
    const started = performance.now();
    assert.equal(await isRead(), false);
    assert.ok(performance.now() - started < 50);
    assert.equal(server.requests.length, 4);
    await server.close();
  }
});

test("questions for which there is nothing to read do not count", async () => {
  const options = await optionsFor(found(), found(), found(), found(PASSAGE));
  const embedder = { ...scoring([1, 2]), loadReader: async () => undefined };
  const reader = panelReader();
  await reader.load(embedder);
  for (let question = 0; question < 3; question++) {
    assert.deepEqual((await reader.read(FIELDS, embedder, options, signal)).passages, []);
  }
  assert.equal((await reader.read(FIELDS, embedder, options, signal)).passages.length, 1);
});

test("questions that the visitor stops do not count", async () => {
  const options = await optionsFor(() => undefined, found(PASSAGE));
  const embedder = { ...scoring([1, 2]), loadReader: async () => undefined };
  const reader = panelReader();
  await reader.load(embedder);
  for (let question = 0; question < 3; question++) {
    assert.equal(await reader.read(FIELDS, embedder, options, AbortSignal.abort()), undefined);
  }
  const stop = new AbortController();
  const stopped = reader.read(FIELDS, embedder, options, stop.signal);
  setTimeout(() => stop.abort(), 50);
  assert.equal(await stopped, undefined);
  assert.notEqual(await reader.read(FIELDS, embedder, options, signal), undefined);
});

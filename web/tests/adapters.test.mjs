// The adapters for other stacks. The AI SDK's parts are checked against its own schema and reader.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readUIMessageStream, uiMessageChunkSchema } from "ai";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { ChatError, toChatRequest, toOpenWebUiEvents, toUiMessageStream } = await importTs(
  new URL("../src/client.ts", import.meta.url),
);

const REFUNDS = "3f333df6-90a4-4fda-8dd3-9485d27cee36";
const SHIPPING = "77e4f5de-3d6c-4f52-9f0a-3a7a2a0e5b11";
const passage = (index, document_id, changes = {}) => ({
  index,
  chunk_id: crypto.randomUUID(),
  document_id,
  title: document_id === REFUNDS ? "Refunds" : "Shipping",
  score: 0.7,
  excerpt: "Refunds are paid within 5 days.",
  quotes: [{ start: 0, end: 7, text: "Refunds", pieces: [{ text: "Refunds" }] }],
  ...changes,
});
const FOUND = [
  { chunk_id: "c", document_id: "d", title: "Gift cards", score: 0.4, excerpt: "Gift cards never expire." },
];
const CITATIONS = [
  passage(1, REFUNDS, { url: "https://www.example.com/refunds", section: "Time" }),
  // Not in the order of numbers, and with several passages of a document.
  passage(2, SHIPPING, { content_type: "application/pdf", page: 3, score: 0.5, excerpt: "We ship daily." }),
  passage(1, REFUNDS, { score: 0.6, excerpt: "Refunds are free." }),
];
const ANSWER = [
  { type: "answer_start", session_id: "s", hedged: false },
  { type: "answer_delta", text: "Refunds are paid within 5 days. [1]" },
  { type: "answer_delta", text: " We ship daily. [2]" },
  { type: "sources", citations: CITATIONS, also_found: FOUND, referenced_indices: [1, 2] },
  { type: "answer_end", message_id: "m", persisted: true },
];
const GENERATION = { model: "m", sentences: 2, dropped: { number: 1 }, invalid_markers: 0, repaired_citations: 0 };
const SUPPORTED = CITATIONS.map((citation) => ({
  ...citation,
  quotes: [],
  supports: [{ start: 0, end: 7, text: citation.excerpt.slice(0, 7), sentence: 0 }],
}));
const GENERATED = [
  { type: "progress", stage: "writing" },
  { ...ANSWER[0], mode: "generated" },
  ANSWER[1],
  ANSWER[2],
  { ...ANSWER[3], citations: SUPPORTED },
  { ...ANSWER[4], generation: GENERATION },
];
const HEDGED = [{ ...ANSWER[0], hedged: true }, ...ANSWER.slice(1)];
const HEDGED_TEXT =
  "These passages are on topic but may not answer your question.\n\nRefunds are paid within 5 days. [1] We ship daily. [2]";
const REFUSAL = {
  type: "refusal",
  message: "I don't know.",
  suggestions: [{ type: "contact", text: "Contact support" }],
  reason: "weak_evidence",
  nearest: [{ chunk_id: "c", document_id: REFUNDS, title: "Refunds", score: 0.3 }],
  session_id: "s",
  persisted: true,
};

/** Yields events and then throws an error, if any, like `streamChat`. */
async function* stream(events, error) {
  yield* events;
  if (error) throw error;
}

/** @returns {ReadableStream} */
function streamOf(parts) {
  // The type of DOM streams has no `from` yet.
  return /** @type {typeof ReadableStream & { from(parts: unknown): ReadableStream }} */ (ReadableStream).from(parts);
}

async function all(parts) {
  const list = [];
  for await (const part of parts) list.push(part);
  return list;
}

/** The parts of a UI message stream, each valid by the AI SDK's own schema. */
async function uiParts(events, error) {
  const parts = await all(toUiMessageStream(stream(events, error)));
  const { validate } = uiMessageChunkSchema();
  for (const part of parts) {
    const result = await validate(part);
    assert.ok(result.success, `${JSON.stringify(part)}: ${"error" in result && result.error.message}`);
  }
  return parts;
}

/** The final message of a page that uses the AI SDK, and its errors. */
async function uiMessage(parts) {
  const errors = [];
  const messages = await all(
    readUIMessageStream({
      stream: streamOf(parts),
      onError: (error) => errors.push(/** @type {Error} */ (error).message),
      terminateOnError: false,
    }),
  );
  return { message: messages.at(-1), errors };
}

describe("the AI SDK adapter", () => {
  test("the AI SDK adapter turns an answer into a text, its sources and their details", async () => {
    const parts = await uiParts(ANSWER);
    assert.deepEqual(
      parts.map(({ type }) => type),
      [
        "start",
        "text-start",
        "text-delta",
        "text-delta",
        "text-end",
        "source-url",
        "source-document",
        "data-citations",
        "finish",
      ],
    );
    const { message, errors } = await uiMessage(parts);
    assert.deepEqual(errors, []);
    assert.deepEqual(message.metadata, { session_id: "s", message_id: "m", persisted: true });
    const [text, refunds, shipping, details] = message.parts;
    assert.deepEqual([text.text, text.state], ["Refunds are paid within 5 days. [1] We ship daily. [2]", "done"]);
    const { type, sourceId, url, title } = refunds;
    assert.deepEqual(
      [type, sourceId, url, title],
      ["source-url", REFUNDS, "https://www.example.com/refunds", "Refunds"],
    );
    assert.deepEqual(
      [shipping.sourceId, shipping.mediaType, shipping.title],
      [SHIPPING, "application/pdf", "Shipping"],
    );
    assert.deepEqual(details.data, { citations: CITATIONS, also_found: FOUND, referenced_indices: [1, 2] });
  });

  test("the AI SDK adapter says who wrote an answer, and sends the words that support it", async () => {
    const parts = await uiParts(GENERATED);
    assert.deepEqual(parts[1], { type: "data-progress", data: { stage: "writing" }, transient: true });
    const { message, errors } = await uiMessage(parts);
    assert.deepEqual(errors, []);
    assert.deepEqual(message.metadata, {
      session_id: "s",
      message_id: "m",
      persisted: true,
      mode: "generated",
      generation: GENERATION,
    });
    const details = message.parts.find(({ type }) => type === "data-citations");
    assert.deepEqual(details.data.citations, SUPPORTED);
    assert.equal(
      message.parts.some(({ type }) => type === "data-progress"),
      false,
      "progress is not a part of the message",
    );
  });

  test("the AI SDK adapter does not send also-found passages as sources", async () => {
    const { message } = await uiMessage(await uiParts(ANSWER));
    const sources = message.parts.filter(({ type }) => type.startsWith("source-"));
    assert.deepEqual(
      sources.map(({ title }) => title),
      ["Refunds", "Shipping"],
    );
  });

  test("the AI SDK adapter puts the hedge before the text of a hedged answer", async () => {
    const { message } = await uiMessage(await uiParts(HEDGED));
    assert.equal(message.parts[0].text, HEDGED_TEXT);
    assert.equal(message.parts.filter(({ type }) => type === "text").length, 1);
  });

  test("the AI SDK adapter sends no sources for an answer without citations", async () => {
    const parts = await uiParts(
      ANSWER.map((event) =>
        event.type === "sources" ? { ...event, citations: [], also_found: [], referenced_indices: [] } : event,
      ),
    );
    const { message } = await uiMessage(parts);
    assert.deepEqual(
      message.parts.map(({ type }) => type),
      ["text"],
    );
  });

  test("the AI SDK adapter turns a refusal into a text with a reason", async () => {
    const { message, errors } = await uiMessage(await uiParts([REFUSAL]));
    assert.deepEqual(errors, []);
    const [text, refusal] = message.parts;
    assert.deepEqual([text.text, text.state], ["I don't know.", "done"]);
    const { reason, suggestions, nearest } = REFUSAL;
    assert.deepEqual(refusal.data, { reason, suggestions, nearest });
    assert.deepEqual(message.metadata, { session_id: "s", persisted: true });
  });

  test("the AI SDK adapter turns an error before the first event into an error part", async () => {
    const parts = await uiParts([], new ChatError("rate_limited", "Slow down.", { retryable: true, requestId: "r" }));
    assert.deepEqual(parts, [
      { type: "start" },
      { type: "data-error", data: { code: "rate_limited", retryable: true, requestId: "r" }, transient: true },
      { type: "error", errorText: "Slow down." },
    ]);
    assert.deepEqual((await uiMessage(parts)).errors, ["Slow down."]);
  });

  test("the AI SDK adapter closes the text before an error part", async () => {
    const parts = await uiParts(ANSWER.slice(0, 2), new ChatError("connection_lost", "Lost.", { retryable: true }));
    assert.deepEqual(
      parts.map(({ type }) => type),
      ["start", "text-start", "text-delta", "text-end", "data-error", "error"],
    );
    const { message } = await uiMessage(parts);
    assert.equal(message.parts[0].state, "done");
  });
});

test("the AI SDK adapter says what was searched, and that a question was too long", async () => {
  const note = { searched: "And cards? When are refunds paid?", truncated: true };
  for (const events of [[...ANSWER.slice(0, -1), { ...ANSWER.at(-1), ...note }], [{ ...REFUSAL, ...note }]]) {
    const { searched, truncated } = (await uiMessage(await uiParts(events))).message.metadata;
    assert.deepEqual({ searched, truncated }, note);
  }
});

describe("the request for the messages of the AI SDK", () => {
  const embedder = {
    fingerprint: "f00d",
    embed: async (/** @type {string} */ text) => ({
      vector: Float32Array.of(text.length),
      tokens: text.length,
      truncated: text.length > 100,
    }),
  };
  const user = (...texts) => ({ role: "user", parts: texts.map((text) => ({ type: "text", text })) });
  const assistant = (metadata) => ({ role: "assistant", parts: [{ type: "text", text: "5 days. [1]" }], metadata });
  const persisted = (session_id) => assistant({ session_id, message_id: "m", persisted: true });
  const requestOf = async (...messages) => {
    const { message_id, ...request } = await toChatRequest(messages, embedder);
    assert.match(message_id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    return request;
  };

  test("has only the question if it is the first", async () => {
    assert.deepEqual(await requestOf(user(" Why? ")), { message: "Why?", embedding: [4], model: "f00d" });
    assert.deepEqual((await requestOf(user("a", "b"))).message, "a\nb");
    assert.equal((await requestOf(user("\ud800?"))).message, "\ufffd?");
    assert.equal((await requestOf(user("x".repeat(101)))).truncated, true);
  });

  test("has the question before it with the vector of both, and the conversation of the last stored answer", async () => {
    const stored = [
      user("First?"),
      persisted("s1"),
      user("Second?"),
      assistant({ session_id: "s2", persisted: false }),
    ];
    assert.deepEqual(await requestOf(...stored, user("Third?")), {
      message: "Third?",
      embedding: [6],
      model: "f00d",
      previous: { message: "Second?", embedding: ["Third? Second?".length] },
      session_id: "s1",
    });
  });

  test("has what the question before it was searched with", async () => {
    const searched = "Second? First?";
    const earlier = [user("First?"), assistant({}), user("Second?"), assistant({ persisted: true, searched })];
    assert.equal((await requestOf(...earlier, user("Third?"))).previous.message, searched);
    const next = [...earlier, user("Third?"), assistant({ persisted: true }), user("Fourth?")];
    assert.equal((await requestOf(...next)).previous.message, "Third?");
  });

  test("has the last question that was answered, and none if there is none that can be sent", async () => {
    const file = { role: "user", parts: [{ type: "file", url: "data:," }] };
    const failed = user("Failed?");
    assert.equal(
      (await requestOf(user("First?"), assistant(undefined), failed, user("Again?"))).previous.message,
      "First?",
    );
    assert.equal((await requestOf(user("First?"), assistant(null), file, user("Again?"))).previous.message, "First?");
    assert.equal("previous" in (await requestOf(user("x".repeat(99)), assistant({}), user("Again?"))), false);
    const reader = { ...embedder, embed: async () => ({ vector: Float32Array.of(1), tokens: 3, truncated: false }) };
    const previousOf = async (text) =>
      (await toChatRequest([user(text), assistant({}), user("Again?")], reader)).previous?.message;
    assert.equal(await previousOf("\u{1f9ca}".repeat(4000)), "\u{1f9ca}".repeat(4000));
    for (const before of ["\u{1f9ca}".repeat(4001), "a\0b", " "]) assert.equal(await previousOf(before), undefined);
    assert.equal("previous" in (await requestOf(failed, user("Again?"))), false);
    assert.equal("previous" in (await requestOf(assistant({}), user("Again?"))), false);
  });

  test("fails without a question", async () => {
    for (const messages of [[], [assistant({})], [user(" ")], [{ role: "user", parts: [] }]]) {
      await assert.rejects(toChatRequest(messages, embedder), { code: "invalid_request", retryable: false });
    }
  });
});

describe("the Open WebUI adapter", () => {
  const convert = (events, error) => all(toOpenWebUiEvents(stream(events, error)));
  const of = (events, type) => events.filter((event) => event.type === type).map(({ data }) => data);

  test("the Open WebUI adapter sends the text and one source for each document, in the order of their numbers", async () => {
    const events = await convert(ANSWER);
    assert.deepEqual(
      events.map(({ type }) => type),
      ["status", "message", "message", "source", "source", "status"],
    );
    assert.equal(
      of(events, "message")
        .map(({ content }) => content)
        .join(""),
      "Refunds are paid within 5 days. [1] We ship daily. [2]",
    );
    const url = "https://www.example.com/refunds";
    assert.deepEqual(of(events, "source"), [
      {
        source: { id: REFUNDS, name: "Refunds", url },
        document: ["Refunds are paid within 5 days.", "Refunds are free."],
        metadata: [
          { source: REFUNDS, name: "Refunds", url, section: "Time" },
          { source: REFUNDS, name: "Refunds" },
        ],
        distances: [0.7, 0.6],
      },
      {
        source: { id: SHIPPING, name: "Shipping" },
        document: ["We ship daily."],
        metadata: [{ source: SHIPPING, name: "Shipping", page: 3 }],
        distances: [0.5],
      },
    ]);
  });

  test("the Open WebUI adapter says that an answer is being written, and who wrote it", async () => {
    const events = await convert(GENERATED);
    const statuses = of(events, "status").map(({ description, hidden = false }) => [description, hidden]);
    assert.deepEqual(statuses, [
      ["Searching the documents", false],
      ["Writing and checking the answer", false],
      ["Written by a language model from the documents", false],
    ]);
    assert.deepEqual(
      of(events, "source").map(({ source }) => source.name),
      ["Refunds", "Shipping"],
    );
  });

  test("the Open WebUI adapter does not send also-found passages as sources", async () => {
    const names = of(await convert(ANSWER), "source").map(({ source }) => source.name);
    assert.deepEqual(names, ["Refunds", "Shipping"]);
  });

  test("the Open WebUI adapter puts the hedge before the text of a hedged answer", async () => {
    const pieces = of(await convert(HEDGED), "message").map(({ content }) => content);
    assert.equal(pieces.join(""), HEDGED_TEXT);
  });

  test("the Open WebUI adapter always ends with a finished status", async () => {
    const lost = new ChatError("connection_lost", "Lost.", { retryable: true });
    for (const events of [await convert(ANSWER), await convert([REFUSAL]), await convert(ANSWER.slice(0, 2), lost)]) {
      const statuses = of(events, "status");
      assert.deepEqual([statuses[0].done, statuses.at(-1).done], [false, true]);
      assert.equal(events.at(-1).type, "status");
    }
  });

  test("the Open WebUI adapter says what was searched, and that a question was too long", async () => {
    const last = async (events) => of(await convert(events), "status").at(-1);
    const end = (events, note) => [...events.slice(0, -1), { ...events.at(-1), ...note }];
    const quoted = { description: "Answered from the documents", done: true, hidden: true };
    assert.deepEqual(await last(ANSWER), quoted);
    const together = "searched together with the question before";
    assert.deepEqual(await last(end(ANSWER, { searched: "And cards? Why?" })), {
      description: `Answered from the documents; ${together}`,
      done: true,
    });
    const long = "the question is longer than the AI reads";
    const both = await last(end(GENERATED, { searched: "And cards? Why?", truncated: true }));
    assert.equal(both.description, `Written by a language model from the documents; ${together}; ${long}`);
    const refused = await last([{ ...REFUSAL, truncated: true }]);
    assert.equal(refused.description, `Not enough evidence for an answer; ${long}`);
  });

  test("the Open WebUI adapter turns a refusal into its message", async () => {
    const events = await convert([REFUSAL]);
    assert.deepEqual(of(events, "message"), [{ content: "I don't know." }]);
    assert.deepEqual(of(events, "source"), []);
  });

  test("the Open WebUI adapter turns an error into a notification", async () => {
    const events = await convert([], new ChatError("rate_limited", "Slow down.", { retryable: true }));
    assert.deepEqual(of(events, "notification"), [{ type: "error", content: "Slow down." }]);
  });
});

test("both adapters rethrow errors other than ChatError, such as an abort", async () => {
  const abort = new DOMException("Stopped.", "AbortError");
  for (const adapter of [toUiMessageStream, toOpenWebUiEvents]) {
    await assert.rejects(all(adapter(stream(ANSWER.slice(0, 2), abort))), abort);
  }
});

test("both adapters stop the answer when the caller stops reading", async () => {
  for (const adapter of [toUiMessageStream, toOpenWebUiEvents]) {
    let stopped = false;
    const endless = (async function* () {
      try {
        for (;;) yield ANSWER[1];
      } finally {
        stopped = true;
      }
    })();
    for await (const { type } of adapter(endless)) if (/delta|message/.test(type)) break;
    assert.ok(stopped, adapter.name);
  }
});

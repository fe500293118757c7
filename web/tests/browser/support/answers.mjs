// Answers of POST /api/chat: outcomes as lists of [event, data], and correct and faulty ways to send them.
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";

export const SESSION = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

const EXCERPT = "Refunds\n\nRefunds are paid within 5 days. Write to us first.";
const LAYOUT = {
  blocks: [
    { kind: "heading", start: 0, end: 7 },
    { kind: "paragraph", start: 9, end: EXCERPT.length },
  ],
};
const QUOTE = "Refunds are paid within 5 days.";

/**
 * A quote of a passage: words that it contains, and that the answer shows as they are.
 * @param {string} excerpt
 */
export function quoteOf(excerpt, text = excerpt) {
  const start = excerpt.indexOf(text);
  return { start, end: start + text.length, text, kind: "sentence", pieces: [{ text }] };
}

/**
 * A citation of the API. Another excerpt needs a layout of its own.
 * @param {{ excerpt?: string, [field: string]: unknown }} fields
 */
export function citation(fields = {}) {
  return {
    index: 1,
    chunk_id: "2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d",
    document_id: "3f333df6-90a4-4fda-8dd3-9485d27cee36",
    title: "Refunds",
    section: "Money",
    page: 3,
    url: "https://shop.example/refunds",
    content_type: "text/markdown",
    score: 0.71,
    strength: "strong",
    excerpt: EXCERPT,
    ...(fields.excerpt === undefined && { blocks: LAYOUT }),
    quotes: [quoteOf(EXCERPT, QUOTE)],
    ...fields,
  };
}

/**
 * A passage of several kinds of blocks: a paragraph, a list in a list, a table, and code. Its row is quoted with the names of its columns.
 * @returns {any}
 */
export function laidOut(fields = {}) {
  const excerpt =
    "Cover.1\n\n1. Fire\n   - at home\n\n   Always.\n2. Water\n\nDamage\tExcluded\nTheft\tyes\n\nrun x\n  y";
  const at = (/** @type {string} */ words, more = {}) => {
    const start = excerpt.indexOf(words);
    return { start, end: start + words.length, ...more };
  };
  const cells = (/** @type {string[]} */ ...words) => words.map((each) => Object.values(at(each)));
  const blocks = [
    at("Cover.1", { kind: "paragraph" }),
    at("1. Fire", { kind: "item", text: at("Fire").start, depth: 0 }),
    at("- at home", { kind: "item", text: at("at home").start, depth: 1 }),
    at("Always.", { kind: "paragraph", depth: 1 }),
    at("2. Water", { kind: "item", text: at("Water").start, depth: 0 }),
    at("Damage\tExcluded", { kind: "row", cells: cells("Damage", "Excluded"), is_header: true }),
    at("Theft\tyes", { kind: "row", cells: cells("Theft", "yes") }),
    at("run x\n  y", { kind: "code" }),
  ];
  const marks = [{ kind: "reference", start: 6, end: 7 }, at("Theft", { kind: "strong" })];
  const pieces = [{ text: "Theft" }, { text: "Excluded", role: "column" }, { text: "yes" }];
  const text = "Theft\tyes";
  const quotes = [at(text, { text, kind: "row", plain: "Theft – Excluded: yes", pieces })];
  return citation({ excerpt, blocks: { blocks, marks }, quotes, ...fields });
}

/** An answer that quotes {@link laidOut}. */
export const LAID_OUT_ANSWER = "Theft – Excluded: yes [1]";

/** An also-found passage of the API. */
export function found(/** @type {Partial<import("../../../src/client/wire.ts").FoundPassage>} */ fields = {}) {
  return {
    chunk_id: "5d0e8d3b-0f0c-4a53-8f2e-4f6b2a1f0c11",
    document_id: "77e4f5de-3d6c-4f52-9f0a-3a7a2a0e5b11",
    title: "Deliveries",
    section: "Deliveries › Abroad",
    content_type: "text/markdown",
    score: 0.41,
    ...fields,
  };
}

/** A result of a search of the API. */
export function result(fields = {}) {
  const { index: _, strength: __, ...passage } = citation();
  return { ...passage, ...fields };
}

/**
 * The events of an answer; `deltas` are the pieces of its text, `end` are further fields of the last event.
 * @param {{deltas?: string[], hedged?: boolean, citations?: any[], also_found?: any[], persisted?: boolean, [field: string]: unknown}} fields
 * @returns {[name: string, data: object][]}
 */
export function answer({
  deltas = ["Refunds are paid ", "within 5 days. [", "1]"],
  hedged = false,
  citations = [citation()],
  also_found = [],
  persisted = true,
  ...end
} = {}) {
  return [
    ["answer_start", { session_id: SESSION, hedged }],
    ...deltas.map((text) => /** @type {[string, object]} */ (["answer_delta", { text }])),
    ["sources", { citations, also_found, referenced_indices: [...new Set(citations.map(({ index }) => index))] }],
    ["answer_end", { message_id: "9b2d6f4e-5d2c-5f0a-8a57-2f0c4a1f1c55", persisted, ...end }],
  ];
}

/** A support of the API: words of the citation's passage, for the sentence at that position. */
export function support(sentence, text = QUOTE, excerpt = EXCERPT) {
  const start = excerpt.indexOf(text);
  return { start, end: start + text.length, text, sentence };
}

/** A citation of a generated answer: both sentences of the passage support one of the answer. */
export function supporting(fields = {}) {
  return citation({ quotes: [], supports: [support(0), support(1, "Write to us first.")], ...fields });
}

/** The report on a generated answer. */
export function report(fields = {}) {
  return {
    model: "test-model",
    sentences: 2,
    dropped: {},
    invalid_markers: 0,
    repaired_citations: 0,
    prompt_tokens: 320,
    completion_tokens: 41,
    ...fields,
  };
}

/**
 * The events of an answer that a language model wrote; each of `deltas` is a sentence.
 * @returns {[name: string, data: object][]}
 */
export function generated({
  deltas = ["You get your money back within 5 days. [1]", " Contact us before that. [1]"],
  citations = [supporting()],
  generation = report(),
} = {}) {
  const [[, start], ...events] = answer({ deltas, citations });
  const [, end] = events.pop() ?? [];
  return [
    ["progress", { stage: "writing" }],
    ["answer_start", { ...start, mode: "generated" }],
    ...events,
    ["answer_end", { ...end, generation }],
  ];
}

/**
 * The event of a refusal.
 * @returns {[name: string, data: object][]}
 */
export function refusal(fields = {}) {
  return [
    [
      "refusal",
      {
        message:
          "I don't have enough information to answer that question. You might try contacting support or rephrasing your question.",
        suggestions: [
          { type: "contact", text: "Contact support" },
          { type: "rephrase", text: "Rephrase your question" },
        ],
        reason: "weak_evidence",
        nearest: [found({ title: "Refunds", section: undefined }), found()],
        session_id: SESSION,
        persisted: true,
        ...fields,
      },
    ],
  ];
}

/** The text of one event in the stream. */
export function frame([name, data]) {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}

/** Sends all events at once. */
export function whole(events) {
  return raw(events.map(frame).join(""));
}

/** Sends any text as an event stream. */
export function raw(text) {
  return (response) => begin(response).end(text);
}

/** Sends single bytes. */
export function byteByByte(events) {
  return async (response) => {
    begin(response);
    for (const byte of bytesOf(events)) {
      response.write(Buffer.of(byte));
      await nextTurn();
    }
    response.end();
  };
}

/** A promise that the test resolves with `open`. */
export function gate() {
  const { promise: opened, resolve: open } = /** @type {PromiseWithResolvers<void>} */ (Promise.withResolvers());
  return { opened, open };
}

/** Sends an event, or `count` of them, whenever the test calls `step(count)`. */
export function stepwise(events) {
  const gates = events.map(gate);
  let opened = 0;
  const handler = async (response) => {
    begin(response);
    response.write(": so far so good\n\n");
    for (const [position, event] of events.entries()) {
      await gates[position].opened;
      response.write(frame(event));
    }
    response.end();
  };
  return Object.assign(handler, {
    step: (count = 1) => gates.slice(opened, (opened += count)).forEach(({ open }) => open()),
  });
}

/** Sends that many bytes and then breaks the connection. */
export function cutAfter(bytes, events = answer()) {
  return async (response) => {
    begin(response).write(bytesOf(events).subarray(0, bytes));
    // Otherwise unsent bytes would be lost with the connection.
    await sleep(50);
    response.destroy();
  };
}

/** Sends these events and then stays silent. */
export function stallAfter(events) {
  return (response) => void begin(response).write(events.map(frame).join(""));
}

/** Never answers. */
export function silence() {}

/** Answers with a status and JSON. */
export function json(status, body, headers = {}) {
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Answers with an error as the API does. */
export function failure(status, code, { retryable = false, headers = {} } = {}) {
  return json(status, { code, message: `The server says ${code}.`, retryable, request_id: "request-7" }, headers);
}

/** Number of bytes up to the end of the event with that name. */
export function bytesUntil(name, events = answer()) {
  const position = events.findLastIndex(([event]) => event === name);
  return bytesOf(events.slice(0, position + 1)).length;
}

function begin(response) {
  return response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
}

function bytesOf(events) {
  return Buffer.from(events.map(frame).join(""));
}

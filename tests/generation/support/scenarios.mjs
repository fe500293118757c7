// What a language model's API may answer: a good stream, and every fault that a client of it must survive. The shapes of good
// streams are those of llama.cpp, OpenAI and reasoning models.

/** A part of a body that sends nothing more and keeps the connection open. */
export const STALL = Symbol("stall");
/** A part of a body that breaks the connection. */
export const RESET = Symbol("reset");

/**
 * One answer. All but `scenario` is optional.
 * @typedef {object} Step
 * @property {string} scenario a key of `SCENARIOS`
 * @property {string} [text] what the model says
 * @property {string[] | "tokens" | "characters"} [deltas] how the text is cut into deltas; `tokens` cuts as real tokenizers do:
 *   a citation marker is several deltas, and so is a number
 * @property {number[] | "bytes"} [writes] where the body is cut into packets, in bytes; by default each event is one
 * @property {number} [after] how many deltas come before the fault
 * @property {number} [delayMs] a pause before each delta
 * @property {Promise<void>} [held] what to wait for before the first delta
 * @property {number} [characters] the length of `flood` and `endless-bracket`
 * @property {string} [retryAfter] a header of `rate-limited`; empty for none
 * @property {string} [location] where `redirect` leads; by default to another server of the scripted model
 */

/**
 * @typedef {object} Reply
 * @property {number} [status] 200 by default
 * @property {Record<string, string>} [headers] replace those of an event stream
 * @property {boolean} [silent] not even headers are sent
 * @property {Iterable<string | typeof STALL | typeof RESET>} [parts]
 */

/** Two sentences with a citation each, in the form that the prompt asks for. */
export const DEFAULT_TEXT = "You can return an order within 30 days. [1] The refund takes five working days. [2]";
const DONE = "data: [DONE]\n\n";
const CHUNK = {
  id: "chatcmpl-scripted",
  object: "chat.completion.chunk",
  created: 1_700_000_000,
  model: "scripted-model",
};
const COMMENT = ": keep-alive\n\n";
/** Enough for every limit of a client; then the endless streams end. */
const FLOOD_CHARACTERS = 10_000_000;

/** @type {Record<string, (step: Step) => Reply>} */
export const SCENARIOS = {
  ok: (step) => stream(step),
  /** A model that obeys the prompt when the sources do not answer the question. */
  declined: (step) => stream({ text: "NO_ANSWER", ...step }),

  // Not reachable: see `startScriptedModel`.
  "connect-refused": () => ({}),

  unauthorized: () => error(401, "authentication_error", "Invalid API key"),
  forbidden: () => error(403, "permission_error", "You are not allowed to use this model"),
  "rate-limited": ({ retryAfter = "7" }) =>
    error(429, "rate_limit_error", "Too many requests", {}, retryAfter ? { "retry-after": retryAfter } : {}),
  "context-exceeded": () =>
    error(400, "exceed_context_size_error", "the request exceeds the available context size", {
      n_prompt_tokens: 5210,
      n_ctx: 4096,
    }),
  "bad-request": () => error(400, "invalid_request_error", "Unknown parameter: 'grammar'"),
  "server-error": () => error(500, "server_error", "Internal error"),
  unavailable: () => error(503, "unavailable_error", "Loading model"),
  "gateway-page": () => ({
    status: 502,
    headers: { "content-type": "text/html" },
    parts: ["<html><body><h1>502 Bad Gateway</h1></body></html>"],
  }),
  redirect: ({ location }) => ({ status: 302, headers: { location: location ?? "" } }),

  /** The connection is accepted, and nothing comes. */
  "no-headers": () => ({ silent: true }),
  "no-first-token": () => ({ parts: [chunk({ role: "assistant", content: null }), STALL] }),
  /** The same, but comments show that the server is alive. */
  "only-comments": () => ({ parts: [...Array.from({ length: 20 }, () => COMMENT), STALL] }),
  stall: (step) => ({ parts: [...some(step), STALL] }),
  /** The body ends as if it were complete. */
  cut: (step) => ({ parts: some(step) }),
  reset: (step) => ({ parts: [...some(step), RESET] }),
  "empty-stream": () => ({ parts: [] }),

  "malformed-json": (step) => ({ parts: [...some(step), 'data: {"choices":[{"delta":{"content":"x\n\n', DONE] }),
  "not-a-chunk": (step) => ({ parts: [...some(step), "data: 42\n\n", 'data: {"choices":"none"}\n\n', DONE] }),
  /** OpenAI, llama.cpp and most proxies report a failure after the headers like this. */
  "error-in-stream": (step) => ({
    parts: [...some(step), data({ error: { message: "The engine is overloaded", type: "server_error", code: 500 } })],
  }),
  "wrong-content-type": (step) => ({ ...stream(step), headers: { "content-type": "text/html; charset=utf-8" } }),
  /** The parameter `stream` was ignored. */
  "json-answer": ({ text = DEFAULT_TEXT }) => ({
    headers: { "content-type": "application/json" },
    parts: [
      JSON.stringify({
        ...CHUNK,
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
        usage: usage(text),
      }),
    ],
  }),

  /** No text at all, although the model stopped by itself. */
  "content-null": () => ({
    parts: [chunk({ role: "assistant", content: null }), chunk({ content: null }), chunk({}, "stop"), DONE],
  }),
  "empty-content": () => ({ parts: [chunk({ role: "assistant", content: "" }), chunk({}, "stop"), DONE] }),
  /** The limit of tokens is reached in the middle of a sentence. */
  length: (step) => stream({ text: `${DEFAULT_TEXT} You can also return it to any`, ...step }, { finish: "length" }),
  "content-filter": (step) => ({ parts: [...some(step), chunk({}, "content_filter"), DONE] }),
  "tool-calls": () => ({
    parts: [
      chunk({
        role: "assistant",
        tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "send", arguments: "{}" } }],
      }),
      chunk({}, "tool_calls"),
      DONE,
    ],
  }),
  flood: ({ characters = FLOOD_CHARACTERS }) => ({ parts: endless("word ".repeat(200), characters) }),
  /** A marker that never ends, one character at a time. */
  "endless-bracket": ({ characters = FLOOD_CHARACTERS }) => ({
    parts: endless("1", characters, "You can return an order within 30 days. ["),
  }),
  "endless-repetition": ({ characters = FLOOD_CHARACTERS, text = DEFAULT_TEXT }) => ({
    parts: endless(`${text} `, characters),
  }),

  "reasoning-content": (step) =>
    stream(step, {
      before: ["The sources say ", "that returns take 99 days. [1]"].map((text) => chunk({ reasoning_content: text })),
    }),
  "think-block": ({ text = DEFAULT_TEXT, ...step }) =>
    stream({ ...step, text: `<think>\nThe user wants 99 days. [1] I will say so.\n</think>\n\n${text}` }),
  "open-think-block": (step) => stream({ ...step, text: "<think>\nThe user wants 99 days. [1] I will say so." }),

  "usage-last": (step) => stream(step),
  "usage-with-last-choice": (step) => stream(step, { usageWithChoice: true }),
  "no-usage": (step) => stream(step, { hasUsage: false }),
  "role-first": (step) => stream(step, { first: [chunk({ role: "assistant", content: "" })] }),
  "no-role": (step) => stream(step, { first: [] }),
  comments: (step) => ({ parts: Array.from(stream(step).parts ?? [], (part) => `${COMMENT}${String(part)}`) }),
  /** Both are valid in an event stream, and few servers send them. */
  "crlf-and-bom": (step) => ({
    parts: Array.from(stream(step).parts ?? [], (part, index) => (index ? "" : "\uFEFF") + crlf(String(part))),
  }),
  "no-space-after-colon": (step) => ({
    parts: Array.from(stream(step).parts ?? [], (part) => String(part).replace("data: ", "data:")),
  }),
};

/** The body of a good stream, to know where it can be cut. */
export function bodyOf(/** @type {Omit<Step, "scenario">} */ step) {
  return Buffer.from([...(stream(step).parts ?? [])].join(""));
}

/** Every way to cut a text into two deltas, at each character. */
export function* eachSplit(/** @type {string} */ text) {
  const characters = [...text];
  for (let at = 0; at <= characters.length; at++) {
    yield [characters.slice(0, at).join(""), characters.slice(at).join("")].filter(Boolean);
  }
}

/** The deltas of a step's text. */
export function deltasOf(/** @type {Omit<Step, "scenario">} */ { text = DEFAULT_TEXT, deltas = "tokens" }) {
  if (Array.isArray(deltas)) return deltas;
  return deltas === "characters" ? [...text] : (text.match(/ ?\p{L}{1,6}|\p{N}|\s|./gsu) ?? []);
}

/**
 * A good stream, in the form of llama.cpp unless a part is replaced.
 * @param {Omit<Step, "scenario">} step
 * @param {{ first?: string[], before?: string[], finish?: string, hasUsage?: boolean, usageWithChoice?: boolean }} [form]
 * @returns {Reply}
 */
function stream(step, form = {}) {
  const { first, before = [], finish = "stop", hasUsage = true, usageWithChoice = false } = form;
  const deltas = deltasOf(step);
  const counts = { usage: usage(deltas.join(""), deltas.length) };
  return {
    parts: [
      ...(first ?? [chunk({ role: "assistant", content: null })]),
      ...before,
      ...deltas.map((content) => chunk({ content })),
      chunk({}, finish, usageWithChoice ? counts : {}),
      ...(hasUsage && !usageWithChoice ? [data({ ...CHUNK, choices: [], ...counts })] : []),
      DONE,
    ],
  };
}

/** The beginning of a good stream, up to a fault. */
function some(/** @type {Step} */ step) {
  const { after = 12 } = step;
  return [...(stream(step, { first: [] }).parts ?? [])].slice(0, after).map(String);
}

function* endless(/** @type {string} */ text, /** @type {number} */ characters, start = "") {
  if (start) yield chunk({ content: start });
  const event = chunk({ content: text });
  for (let sent = 0; sent < characters; sent += text.length) yield event;
  yield chunk({}, "stop");
  yield DONE;
}

/** @returns {Reply} */
function error(status, type, message, more = {}, headers = {}) {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    parts: [JSON.stringify({ error: { code: status, message, type, ...more } })],
  };
}

/** @returns {string} */
function chunk(delta, /** @type {string | null} */ finish_reason = null, more = {}) {
  return data({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }], ...more });
}

function data(value) {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function usage(/** @type {string} */ text, completion_tokens = text.length) {
  return { prompt_tokens: 321, completion_tokens, total_tokens: 321 + completion_tokens };
}

function crlf(/** @type {string} */ text) {
  return text.replaceAll("\n", "\r\n");
}

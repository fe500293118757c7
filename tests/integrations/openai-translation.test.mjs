// The translation of the OpenAI adapter: requests into questions, events into chunks and one document, and text into Markdown.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import MarkdownIt from "markdown-it";
import { createAdapter } from "@evidence-chat/openai-adapter";
import { ChatError } from "@evidence-chat/widget/client";
import { chunksOfEvents, completionOf } from "../../integrations/openai/src/completion.mjs";
import { asAdapterError } from "../../integrations/openai/src/errors.mjs";
import { markdown } from "../../integrations/openai/src/markdown.mjs";
import { parseQuestion } from "../../integrations/openai/src/question.mjs";
import { listen } from "../lib/listen.mjs";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const user = (/** @type {unknown} */ content) => ({ role: "user", content });
const request = (overrides = {}) => ({
  model: "evidence-chat",
  messages: [user(" How do refunds work? ")],
  ...overrides,
});
const rejectionOf = (/** @type {unknown} */ body) => {
  try {
    parseQuestion(body);
  } catch (thrown) {
    const { status, body } = asAdapterError(thrown);
    assert.equal(status, 400);
    return body.error;
  }
  assert.fail("accepted");
};

describe("a request", () => {
  test("with the least that is needed is a question with a new id", () => {
    const { messageId, ...question } = parseQuestion(request());
    assert.match(messageId, UUID);
    assert.deepEqual(question, {
      model: "evidence-chat",
      isStreamed: false,
      assistant: undefined,
      question: "How do refunds work?",
      questionBefore: undefined,
      options: { session_id: undefined, include_citations: undefined, mode: undefined },
    });
  });

  test("may have the fields of a question", () => {
    const options = { session_id: "s", include_citations: false, mode: "extractive" };
    const parsed = parseQuestion(request({ ...options, message_id: "m", stream: true }));
    assert.deepEqual([parsed.options, parsed.messageId, parsed.isStreamed], [options, "m", true]);
  });

  test("asks the last message of the user, and has the one before it", () => {
    const asked = (/** @type {unknown[]} */ ...messages) => {
      const { question, questionBefore } = parseQuestion(request({ messages }));
      return [question, questionBefore];
    };
    const system = { role: "system", content: "Be brief." };
    const assistant = { role: "assistant", content: null, tool_calls: [] };
    assert.deepEqual(asked(system, user("One?"), assistant, user("Two?"), assistant), ["Two?", "One?"]);
    const parts = ["One", "two?"].map((text) => ({ type: "text", text }));
    assert.deepEqual(asked(user([{ type: "image_url" }]), user(parts)), ["One\ntwo?", undefined]);
    assert.deepEqual(asked(user("### Task:\nMake a title."), user("Why?")), ["Why?", undefined]);
    assert.deepEqual(asked(null, 7, "Why?", { content: "x" }, user("Why?")), ["Why?", undefined]);
    assert.deepEqual(asked(...Array.from({ length: 1000 }, (_, at) => user(`${at}?`))), ["999?", "998?"]);
    assert.equal(asked(user("🧊".repeat(4000)))[0].length, 8000);
  });

  for (const [messages, words] of /** @type {[unknown, RegExp][]} */ ([
    [undefined, /must be an array/],
    ["Why?", /must be an array/],
    [[], /one with the role user/],
    [[{ role: "assistant", content: "Hello" }], /one with the role user/],
    [["Why?", [], null, { role: [] }], /one with the role user/],
    [[{ role: "user" }], /consist of text/],
    [[user(null)], /consist of text/],
    [[user({})], /consist of text/],
    [[user([{ type: "image_url", image_url: { url: "data:" } }])], /consist of text/],
    [[user([{ type: "text" }])], /consist of text/],
    [[user(["Why?"])], /consist of text/],
    [[user("  ")], /empty/],
    [[user([])], /empty/],
    [[user("x".repeat(4001))], /at most 4000 characters/],
    [[user("🧊".repeat(4001))], /at most 4000 characters/],
  ])) {
    test(`with the messages ${JSON.stringify(messages)?.slice(0, 60).toWellFormed()} is rejected`, () => {
      const { param, message } = rejectionOf(request({ messages }));
      assert.equal(param, "messages");
      assert.match(message, words);
    });
  }

  test("that would change the response is rejected by the field, and other fields are ignored", () => {
    for (const [name, wrong, right] of /** @type {[string, unknown, unknown][]} */ ([
      ["n", 2, 1],
      ["n", "1", null],
      ["tools", [{ type: "function" }], []],
      ["functions", [{ name: "f" }], []],
      ["response_format", { type: "json_object" }, { type: "text" }],
      ["modalities", ["text", "audio"], ["text"]],
      ["logprobs", true, false],
      ["stream", "true", null],
      ["model", "", "x"],
      ["model", { toString: 1 }, "x"],
    ])) {
      assert.equal(rejectionOf(request({ [name]: wrong })).param, name);
      assert.ok(parseQuestion(request({ [name]: right })), name);
    }
    for (const ignored of ["temperature", "max_tokens", "user", "tool_choice", "stream_options", "surprise"]) {
      assert.ok(parseQuestion(request({ [ignored]: { deep: [1] } })), ignored);
    }
    for (const body of [null, [], 5, "{}"]) assert.equal(rejectionOf(body).param, null);
  });

  test("names the assistant in the name of the model", () => {
    const assistantOf = (model) => parseQuestion(request({ model })).assistant;
    assert.equal(assistantOf("evidence-chat/shop"), "shop");
    // The Worker rejects these names.
    assert.deepEqual([assistantOf("evidence-chat/"), assistantOf("evidence-chat/a/b")], ["", "a/b"]);
    for (const model of ["evidence-chat", "gpt-4o", "evidence-chats", "evidence-chat-2"])
      assert.equal(assistantOf(model), undefined, model);
  });
});

const HEAD = { id: "chatcmpl-7", created: 1_700_000_000, model: "evidence-chat" };
const HEDGE = "These passages are on topic but may not answer your question.\n\n";
const TITLES = ["Refunds", "Shipping"];
const citation = (index, overrides = {}) => ({
  index,
  chunk_id: crypto.randomUUID(),
  document_id: `document-${index}`,
  title: TITLES[index - 1],
  score: 0.5,
  excerpt: "Refunds take 5 days.",
  quotes: [],
  ...overrides,
});

const DELTAS = [String.raw`Refunds take 5 days. \[1\] [1]`, " Shipping is free. [2] [1]"];

/** The events of an answer from two documents. */
function answer(/** @type {any} */ facts = {}) {
  const { hedged = false, mode, citations, deltas = DELTAS, ...end } = facts;
  return [
    { type: "answer_start", session_id: "s", hedged, mode },
    ...deltas.map((text) => ({ type: "answer_delta", text })),
    {
      type: "sources",
      citations: citations ?? [
        citation(2, { strength: "partial" }),
        citation(1, { strength: "good", download_url: "https://example.com/file" }),
        citation(1, { strength: "partial", url: "https://example.com/refunds" }),
      ],
      also_found: [],
      referenced_indices: [1, 2],
    },
    { type: "answer_end", message_id: "m", persisted: true, decided_by: "search", ...end },
  ];
}

const REFUSAL = {
  type: "refusal",
  message: "I don't have enough information.",
  reason: "weak_evidence",
  suggestions: [{ type: "rephrase", text: "Ask in other words." }],
  nearest: [],
  persisted: false,
  decided_by: "search",
};

/** The chunks and the document as clients get them. */
function translated(/** @type {any[]} */ events) {
  const chunks = events.flatMap(chunksOfEvents(HEAD));
  const sent = JSON.parse(JSON.stringify({ chunks, whole: completionOf(chunks) }));
  return { ...sent, last: sent.chunks.at(-1), content: sent.whole.choices[0].message.content };
}

describe("an answer", () => {
  test("is a role, then text, then one chunk with everything else", () => {
    const { chunks, last } = translated(answer());
    const others = chunks.slice(0, -1);
    assert.deepEqual(
      others.map(({ choices }) => choices[0].delta),
      [
        { role: "assistant", content: "" },
        { content: String.raw`Refunds take 5 days. \[1\] [1]` },
        { content: " Shipping is free. [2] [1]" },
      ],
    );
    for (const { choices, ...chunk } of others) {
      assert.deepEqual(chunk, { object: "chat.completion.chunk", ...HEAD }, "no metadata before the end");
      assert.equal(choices[0].finish_reason, null);
    }
    const { choices, citations, ...metadata } = last;
    assert.deepEqual(metadata, {
      object: "chat.completion.chunk",
      ...HEAD,
      retrieval: { hedged: false, strength: "good", also_found: [], decided_by: "search" },
      session_id: "s",
      message_id: "m",
      persisted: true,
      usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    });
    assert.deepEqual([citations.sources.length, citations.referenced_indices], [3, [1, 2]]);
    assert.deepEqual([choices[0].finish_reason, choices[0].delta.content], ["stop", undefined]);
  });

  test("says what was searched, and that the question is too long", () => {
    const { retrieval } = translated(answer({ searched: "How long? Refunds?", truncated: true })).last;
    assert.deepEqual([retrieval.searched, retrieval.truncated], ["How long? Refunds?", true]);
  });

  test("names each document once, in the order of the numbers, with the place of the first marker in characters", () => {
    for (const [hedged, shift] of /** @type {[boolean, number][]} */ ([
      [false, 0],
      [true, HEDGE.length],
    ])) {
      const { whole, content } = translated(answer({ hedged, deltas: ["🧊 Refunds. [1]", " Shipping. [2] [1]"] }));
      const found = whole.choices[0].message.annotations.map(({ url_citation }) => url_citation);
      assert.deepEqual(
        found.map(({ url, title }) => [url, title]),
        [
          ["https://example.com/refunds", "Refunds"],
          ["urn:uuid:document-2", "Shipping"],
        ],
      );
      assert.equal(found[0].start_index, 11 + shift);
      for (const [at, { start_index, end_index }] of found.entries())
        assert.equal([...content].slice(start_index, end_index).join(""), `[${at + 1}]`);
    }
    const file = citation(1, { download_url: "https://example.com/file" });
    const [{ url_citation }] = translated(answer({ citations: [file] })).last.choices[0].delta.annotations;
    assert.equal(url_citation.url, "https://example.com/file");
  });

  test("without sources has no citations and no annotations", () => {
    const { last, whole } = translated(answer({ citations: [], deltas: ["Refunds take 5 days."] }));
    assert.deepEqual([last.citations, last.choices[0].delta], [undefined, {}]);
    assert.deepEqual(whole.choices[0].message.annotations, []);
  });

  test("that is hedged begins with the hedge", () => {
    const { content, last } = translated(answer({ hedged: true }));
    assert.ok(content.startsWith(`${HEDGE}Refunds`));
    assert.equal(last.retrieval.hedged, true);
  });

  test("of a language model says so, and has its usage if it is known", () => {
    const generated = (report) => {
      const generation = { model: "llama", ...report };
      return translated([{ type: "progress", stage: "writing" }, ...answer({ mode: "generated", generation })]).whole;
    };
    const counted = generated({ prompt_tokens: 400, completion_tokens: 30 });
    assert.deepEqual([counted.mode, counted.generation.model], ["generated", "llama"]);
    assert.deepEqual(counted.usage, { prompt_tokens: 400, completion_tokens: 30, total_tokens: 430 });
    assert.equal(counted.choices[0].finish_reason, "stop");
    assert.equal(generated({ completion_tokens: 30 }).usage, undefined);
    assert.equal(generated({ prompt_tokens: 400 }).usage, undefined);
    assert.equal(generated({ cut: true }).choices[0].finish_reason, "length");
  });

  test("has the place of a marker in the escaped text, and not in code", () => {
    const deltas = ["Get ![x](https://evil.example/p.png) and __init__. [1]", "\n\nRun:\n\nnpm i\nls a\\[2\\]\n[2]"];
    const { content, last } = translated(answer({ deltas }));
    const escaped = String.raw`Get !\[x\](https\://evil.example/p.png) and \_\_init\_\_. [1]`;
    assert.equal(content, `${escaped}\n\nRun:\n\n    npm i\n    ls a[2]\n[2]`);
    assert.deepEqual(
      last.choices[0].delta.annotations.map(({ url_citation }) => url_citation.start_index),
      [content.indexOf("[1]"), content.lastIndexOf("[2]")],
    );
  });
});

test("a refusal is a message without citations", () => {
  const { chunks, last, content } = translated([REFUSAL]);
  assert.deepEqual([chunks.length, content], [3, REFUSAL.message]);
  const { choices: _, object: _object, ...metadata } = last;
  const { reason, suggestions } = REFUSAL;
  const retrieval = { hedged: false, also_found: [], refusal: { reason, suggestions }, decided_by: "search" };
  assert.deepEqual(metadata, { ...HEAD, retrieval, persisted: false });
  const stored = translated([{ ...REFUSAL, nearest: [{ title: "Refunds" }], session_id: "s", persisted: true }]).last;
  assert.deepEqual([stored.session_id, stored.retrieval.refusal.nearest], ["s", [{ title: "Refunds" }]]);
});

test("a completion in one piece has the same metadata as the chunks", () => {
  for (const events of [answer(), answer({ hedged: true }), [REFUSAL]]) {
    const { last, whole } = translated(events);
    const { choices: [{ message }], object, ...rest } = whole; // prettier-ignore
    assert.equal(object, "chat.completion");
    assert.deepEqual([message.role, message.refusal], ["assistant", null]);
    assert.deepEqual(message.annotations, last.choices[0].delta.annotations ?? []);
    const { choices: _, object: _object, ...facts } = last;
    assert.deepEqual(rest, facts);
  }
});

describe("a stream", () => {
  const FIELDS = { session_id: "s", hedged: false };
  const START = [
    ["answer_start", FIELDS],
    ["answer_delta", { text: "Refunds take 5 days." }],
  ];

  /** Asks for a stream through an adapter whose Worker is `serve`. */
  async function ask(t, serve, headers = {}) {
    const worker = await listen((request, response) => {
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream", ...headers });
      return serve(response);
    });
    t.after(() => worker.close());
    const embedder = {
      fingerprint: "m",
      embed: async () => ({ vector: new Float32Array(384), tokens: 3, truncated: false }),
    };
    const adapter = await listen(createAdapter({ worker: worker.origin, embedder }));
    t.after(() => adapter.close());
    return fetch(`${adapter.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer token" },
      body: JSON.stringify(request({ stream: true })),
    });
  }
  const eventsOf = (/** @type {any[]} */ events) =>
    events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`).join("");

  test("has the Worker's limits, no other of its headers, and comments while nothing else comes", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const { promise: silence, resolve: endSilence } = Promise.withResolvers();
    const serve = async (response) => {
      response.write(eventsOf([["progress", { stage: "writing" }]]));
      await silence;
      response.end(eventsOf([...START, ["sources", {}], ["answer_end", { message_id: "m" }]]));
    };
    const response = await ask(t, serve, { "ratelimit-remaining": "7", "x-request-id": "r", "server-timing": "a" });
    const { headers } = response;
    assert.match(headers.get("content-type") ?? "", /^text\/event-stream/);
    assert.deepEqual(
      ["ratelimit-remaining", "x-request-id", "server-timing"].map((name) => headers.get(name)),
      ["7", "r", null],
    );
    t.mock.timers.tick(10_000);
    endSilence(undefined);
    const text = await response.text();
    assert.match(text, /^: writing\n\n:\n\ndata: \{/);
    assert.match(text, /\n\ndata: \[DONE\]\n\n$/);
  });

  for (const [name, serve, code] of /** @type {[string, (response: any) => void, string][]} */ ([
    [
      "that fails",
      (response) => response.end(eventsOf([...START, ["error", { code: "internal", message: "Sorry." }]])),
      "internal",
    ],
    ["that is cut", (response) => response.end(eventsOf(START)), "upstream_unavailable"],
  ])) {
    test(`${name} ends in an error and without [DONE]`, async (t) => {
      const response = await ask(t, serve);
      const blocks = (await response.text()).split("\n\n");
      assert.deepEqual([response.status, blocks.length, blocks.pop()], [200, 4, ""]);
      const { error } = JSON.parse((blocks.pop() ?? "").slice("data: ".length));
      assert.deepEqual([error.type, error.code, error.param], ["server_error", code, null]);
    });
  }

  test("that fails before it begins has the status of the error", async (t) => {
    const serve = (response) => response.end(eventsOf([["error", { code: "internal", message: "Sorry." }]]));
    const response = await ask(t, serve);
    assert.deepEqual([response.status, response.headers.get("x-should-retry")], [500, "false"]);
    assert.equal((await response.json()).error.message, "Sorry.");
  });

  test("of a server that is no Worker is an error", async (t) => {
    const response = await ask(t, (response) => response.end("<html>"), { "content-type": "text/html" });
    assert.deepEqual([response.status, response.headers.get("x-should-retry")], [503, "true"]);
  });
});

test("an error has the class that clients branch on, and says whether it may be repeated", () => {
  const translatedError = (code, status) => {
    const { body, isRetryable, ...error } = asAdapterError(new ChatError(code, "Why.", { retryable: false, status }));
    assert.deepEqual([body.error.message, body.error.param], ["Why.", null]);
    return [error.status, body.error.type, body.error.code, isRetryable];
  };
  for (const expected of [
    [400, "invalid_request_error", "invalid_request", false],
    [401, "authentication_error", "unauthorized", false],
    [403, "permission_error", "forbidden", false],
    [404, "not_found_error", "unknown_assistant", false],
    [409, "invalid_request_error", "model_mismatch", false],
    [413, "invalid_request_error", "payload_too_large", false],
    [429, "rate_limit_error", "rate_limited", true],
    [500, "server_error", "internal", false],
    [503, "server_error", "upstream_unavailable", true],
    [504, "server_error", "upstream_timeout", true],
  ]) {
    assert.deepEqual(translatedError(expected[2], expected[0]), expected);
  }
  assert.deepEqual(translatedError("internal"), [500, "server_error", "internal", false], "of an event");
  const unavailable = [503, "server_error", "upstream_unavailable", true];
  assert.deepEqual(translatedError("connection_lost"), unavailable);
  assert.deepEqual(translatedError("invalid_response", 404), unavailable, "another server is at the address");
});

describe("Markdown", () => {
  const renderer = new MarkdownIt({ html: true, linkify: true });
  // Few clients make links of words with a dot, and such a link shows where it goes.
  renderer.linkify.set({ fuzzyLink: false });
  /** The words of a text and of code that a client shows, and a note of everything that a document must not bring in. */
  const rendered = (/** @type {string} */ text) => {
    const expected = ["paragraph_open", "paragraph_close", "bullet_list_open", "bullet_list_close"];
    const shown = (/** @type {any[]} */ tokens) =>
      tokens
        .map(({ type, content, children }) => {
          if (children) return shown(children);
          if (["text", "text_special", "code_block"].includes(type)) return content;
          if (type === "softbreak") return "\n";
          return [...expected, "list_item_open", "list_item_close"].includes(type) ? "" : `<${type}>`;
        })
        .join("");
    return shown(renderer.parse(text, {}));
  };
  /** As the Worker escapes words that look like markers. */
  const escapeMarkers = (/** @type {string} */ text) => text.replace(/\[(\d+)\]/g, String.raw`\[$1\]`);

  for (const text of [
    "Prices: ![x](https://evil.example/p.png?q=1) see list.",
    "[Sign in again](https://evil.example) or <https://evil.example> or [a][b]",
    "Copy <folder> to __init__ and 2*3*4 and `x` and ~~old~~ and $x_1$ and a|b",
    "# Fees",
    "+ 5 %",
    "=====",
    "3. Open the app",
    "12) Done",
    "5 &lt; 6 &amp; 7 \\* 8 \\",
    "See www.evil.example, https://evil.example and me@evil.example",
    "<script>alert(1)</script><img src=x>",
    "[^1] and [3](https://evil.example) and \\[x\\]",
  ]) {
    test(`shows ${text} as its signs`, () => {
      for (const markers of ["", " [1]", " [1] [2]"]) {
        assert.equal(rendered(markdown(escapeMarkers(text) + markers)), text + markers);
      }
    });
  }

  test("has a backslash before each sign that an extension would read as markup", () => {
    assert.equal(
      markdown("Write to me@evil.example, https://evil.example or www.evil.example. ~a~ ^b^ $c$ |d| [1]"),
      String.raw`Write to me\@evil.example, https\://evil.example or www\.evil.example. \~a\~ \^b\^ \$c\$ \|d\| [1]`,
    );
  });

  test("leaves ordinary sentences as they are", () => {
    for (const text of [
      "Refunds take 5 days (at most), i.e. 120 hours: no fee! [1]",
      " It's free – isn't it? [2]",
      "\n- Shoes: 3–5 days [1]",
      "\n\nOpening hours: Monday 9.30 – 17.00; note: closed on 1. May [3]",
    ]) {
      assert.equal(markdown(text), text);
    }
  });

  for (const [delta, expected] of [
    ["npm i\n[1]", "    npm i\n[1]"],
    ["\n\nRun *this*:\n\n  a\n```\n# b\n[2]", "\n\nRun \\*this\\*:\n\n      a\n    ```\n    # b\n[2]"],
    ["a\\[1\\] = \\[b\\]\nb\n[1]", "    a[1] = \\[b\\]\n    b\n[1]"],
  ]) {
    test(`indents the code ${JSON.stringify(delta)} with its signs`, () => assert.equal(markdown(delta), expected));
  }

  /** Texts of these signs, the same ones in each run. */
  function* texts(/** @type {string} */ signs) {
    let state = 1;
    const random = (below) => (state = (state * 48271) % 2147483647) % below;
    for (let count = 0; count < 5000; count++) {
      yield Array.from({ length: random(40) }, () => signs[random(signs.length)]).join("");
    }
  }

  test("shows the characters of any line", () => {
    for (const random of texts("][!()<>*_`~^|$&#+=.:@;/\\abcdwz0129é-   ")) {
      const text = random.trim().replace(/ +/g, " ");
      if (/\\\[\d+\\\]/.test(text) || text.startsWith("- ")) continue;
      const shown = rendered(markdown(`${escapeMarkers(text)} [1]`));
      assert.equal(shown, `${text} [1]`.trimStart(), text);
    }
  });

  test("shows the characters of any code", () => {
    for (const random of texts("`~#ab z \n\n[]1")) {
      // A blank line at its beginning is not shown.
      const text = random.replace(/^[ \n]+|[ \n]+$/g, "");
      if (text) assert.equal(rendered(markdown(`${escapeMarkers(text)}\n[1]`)), `${text}\n[1]`);
    }
  });
});

// A chat server inside the page, for a site without one. It quotes the site's own pages, which it finds by words alone; no
// model is loaded and nothing leaves the page.
import { Search } from "./search.mjs";
import { STAND_IN_PATH } from "./stand-in-path.mjs";

const FINGERPRINT = "stand-in";
const GREETING =
  "A stand-in on this page finds sentences of these docs by their words. Your own chat also understands other words for the same thing.";
const SUGGESTED = [
  "Can visitors ask without an account?",
  "Which files does kb sync read?",
  "What is stored about visitors?",
];
// Nothing is stored: "persisted" only avoids a warning below each answer.
/** Milliseconds between the pieces of an answer. */
const PAUSE = 60;

const CONFIG = {
  greeting: GREETING,
  suggested_questions: SUGGESTED,
  citations: true,
  link_mode: "none",
  answer_mode: "extractive",
  model: FINGERPRINT,
  dimensions: 384,
  max_message_chars: 4000,
};

let site;

/**
 * Properties of a widget that asks the stand-in.
 * @param {URL} base root of the site
 */
export function standIn(base) {
  if (!site) {
    site = new StandIn(base);
    const { fetch } = globalThis;
    globalThis.fetch = (input, init) => site.answer(input, init) ?? fetch(input, init);
  }
  return {
    endpoint: site.endpoint,
    tokenProvider: async () => "stand-in",
    embedderFactory: async () => ({
      fingerprint: FINGERPRINT,
      embed: async () => ({ vector: new Float32Array(384).fill(1 / Math.sqrt(384)), tokens: 8, truncated: false }),
      countTokens: async () => 8,
      dispose() {},
    }),
  };
}

class StandIn {
  endpoint;
  #base;
  #search;

  constructor(base) {
    this.#base = base;
    this.endpoint = new URL(STAND_IN_PATH, base).href;
  }

  /** The response to a request for the stand-in; nothing for any other request. */
  answer(input, init) {
    const { href } = new URL(input instanceof Request ? input.url : String(input), location.href);
    if (!href.startsWith(new URL(".", this.endpoint).href)) return undefined;
    const { pathname } = new URL(href);
    if (href === this.endpoint) return this.#ask(JSON.parse(init.body), init.signal);
    if (pathname.endsWith("/config")) return json(CONFIG);
    if (pathname.endsWith("/sessions")) return json({ sessions: [], next_cursor: null });
    // Nothing is stored, so nobody reads it.
    if (pathname.endsWith("/feedback")) return json({});
    // Also the messages of a conversation that the tab remembers from the page before: the widget begins a new one.
    return json({ code: "not_found", message: "The stand-in stores nothing." }, 404);
  }

  async #ask({ message }, signal) {
    this.#search ??= fetch(new URL("stand-in.json", this.#base))
      .then((response) => response.json())
      .then((passages) => new Search(passages));
    const { answer, nearest } = (await this.#search).find(message);
    return stream(answer.length > 0 ? this.#answered(answer) : this.#refused(nearest), signal);
  }

  *#answered(answer) {
    yield { type: "answer_start", session_id: crypto.randomUUID(), hedged: false };
    const documents = [...new Set(answer.map(({ passage }) => passage.title))];
    const citations = [];
    let before = "";
    for (const { passage, sentences, score } of answer) {
      const index = documents.indexOf(passage.title) + 1;
      const place = answer.length > 1 ? `${before}${passage.section || passage.title}: ` : "";
      for (const [number, [start, end]] of sentences.entries()) {
        yield {
          type: "answer_delta",
          text: `${number ? " " : place}${escaped(passage.text.slice(start, end))} [${index}]`,
        };
      }
      citations.push({
        index,
        ...this.#passage(passage, score),
        strength: score > 0.8 ? "strong" : "good",
        excerpt: passage.text,
        quotes: sentences.map(([start, end]) => {
          const text = passage.text.slice(start, end);
          return { start, end, text, kind: "sentence", pieces: [{ text }] };
        }),
      });
      before = "\n\n";
    }
    yield { type: "sources", citations, also_found: [], referenced_indices: documents.map((_, at) => at + 1) };
    yield { type: "answer_end", message_id: crypto.randomUUID(), persisted: true };
  }

  *#refused(nearest) {
    yield {
      type: "refusal",
      message: "These pages do not say that in words that the stand-in recognises.",
      suggestions: [{ type: "rephrase", text: "Rephrase your question" }],
      reason: nearest.length > 0 ? "weak_evidence" : "no_match",
      nearest: nearest.map((passage) => this.#passage(passage, 0.3)),
      persisted: true,
    };
  }

  #passage(passage, score) {
    return {
      chunk_id: passage.path,
      document_id: passage.path.replace(/#.*/, ""),
      title: passage.title,
      ...(passage.section && { section: passage.section }),
      url: new URL(passage.path, this.#base).href,
      content_type: "text/plain",
      score,
    };
  }
}

/** `[n]` in a page is not a marker. */
const escaped = (text) => text.replace(/\[(\d+)\]/g, "\\[$1\\]");

function json(body, status = 200) {
  return Promise.resolve(
    new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } }),
  );
}

/** Server-sent events, one after the other. */
function stream(events, signal) {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    async pull(controller) {
      const { value: event, done } = events.next();
      if (done || signal?.aborted) return done ? controller.close() : controller.error(signal.reason);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      controller.enqueue(encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

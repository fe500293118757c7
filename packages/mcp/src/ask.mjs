import { ChatError, streamChat } from "@evidence-chat/widget/client";
import { ExcerptBudget, MAX_NEAR_PASSAGES, shorten } from "./bounds.mjs";
import { place, quotation } from "./text.mjs";

/** @import { ChatClientOptions, ChatEvent, Citation, Passage, RefusalEvent } from "@evidence-chat/widget/client" */
/** @import { Embedder } from "@evidence-chat/embedder" */

/**
 * What the Worker said about a question.
 * @typedef {{ text: string, sessionId?: string, hedged: boolean, mode?: "extractive" | "generated",
 *   citations: readonly Citation[], nearest: readonly Passage[], refusal?: RefusalEvent }} Outcome
 */

/**
 * Asks a question. Throws a `ChatError`, or the reason of the signal.
 * @param {{ question: string, session_id?: string }} input
 * @param {{ embedder: Embedder, client: ChatClientOptions, signal: AbortSignal, onProgress?: (message: string) => void }} context
 */
export async function ask({ question, session_id }, { embedder, client, signal, onProgress }) {
  const { vector, truncated } = await embedder.embed(question, { signal });
  const request = {
    embedding: Array.from(vector),
    message: question,
    message_id: crypto.randomUUID(),
    model: embedder.fingerprint,
    ...(session_id && { session_id }),
  };
  const read = () => readOutcome(streamChat(request, client, signal), onProgress);
  const outcome = await read().catch((error) => {
    signal.throwIfAborted();
    // The same message_id costs nothing and gets the outcome that was lost.
    if (error instanceof ChatError && error.code === "connection_lost") return read();
    throw error;
  });
  const structuredContent = structure(outcome, truncated);
  return { structuredContent, content: [{ type: /** @type {const} */ ("text"), text: writeText(structuredContent) }] };
}

/** @returns {Promise<Outcome>} */
async function readOutcome(
  /** @type {AsyncIterable<ChatEvent>} */ events,
  /** @type {((message: string) => void) | undefined} */ onProgress,
) {
  /** @type {Outcome} */
  const outcome = { text: "", hedged: false, citations: [], nearest: [] };
  for await (const event of events) {
    switch (event.type) {
      case "progress":
        onProgress?.("A language model writes the answer, and its sentences are checked.");
        break;
      case "answer_start":
        Object.assign(outcome, { hedged: event.hedged, mode: event.mode ?? "extractive", sessionId: event.session_id });
        break;
      case "answer_delta":
        outcome.text += event.text;
        onProgress?.("The answer arrives.");
        break;
      case "sources":
        Object.assign(outcome, { citations: event.citations, nearest: event.also_found });
        break;
      case "answer_end":
        if (!event.persisted) delete outcome.sessionId;
        break;
      case "refusal":
        Object.assign(outcome, { text: event.message, nearest: event.nearest, refusal: event });
        if (event.persisted) outcome.sessionId = event.session_id;
        break;
    }
  }
  return outcome;
}

/** The structured content of a result, as ASK_OUTPUT describes it. */
function structure(/** @type {Outcome} */ outcome, /** @type {boolean} */ truncated) {
  const { refusal, sessionId } = outcome;
  const text = shorten(outcome.text);
  const budget = new ExcerptBudget();
  const citations = outcome.citations.map(({ excerpt, available: _available, ...citation }) => ({
    ...citation,
    ...budget.take(excerpt),
  }));
  const nearest = outcome.nearest.slice(0, MAX_NEAR_PASSAGES).map(withoutExcerpt);
  const shortened = text !== outcome.text || budget.isExceeded || nearest.length < outcome.nearest.length;
  const rest = { citations, nearest, ...(sessionId && { session_id: sessionId }), truncated, shortened };
  return refusal
    ? { type: "refusal", text, reason: refusal.reason, suggestions: refusal.suggestions, ...rest }
    : { type: "answer", text, hedged: outcome.hedged, mode: outcome.mode, ...rest };
}

/** @param {Passage & { excerpt?: string }} passage */
function withoutExcerpt({ excerpt: _excerpt, ...passage }) {
  return passage;
}

/** The same for readers: the answer, then its sources with their quotes. */
function writeText(/** @type {ReturnType<typeof structure>} */ { type, text, truncated, citations, nearest, ...rest }) {
  const hedged = "hedged" in rest && rest.hedged;
  const sources = citations.map((citation) => `[${citation.index}] ${place(citation)}${quotation(citation)}`);
  const near = nearest.map((passage) => `- ${place(passage)}`);
  return [
    type === "refusal" ? `No answer: ${text}` : text,
    ...(hedged ? ["Note: the passages are on the subject but may not answer the question."] : []),
    ...(truncated ? ["Note: the question is longer than the model reads, so its end was ignored."] : []),
    ...(sources.length > 0 ? [["Sources:", ...sources].join("\n")] : []),
    ...(near.length > 0 ? [["Near the question, but not quoted:", ...near].join("\n")] : []),
  ].join("\n\n");
}

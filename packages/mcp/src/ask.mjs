import { ChatError, embedQuestion, readFor, streamChat } from "@evidence-chat/widget/client";
import { ExcerptBudget, MAX_NEAR_PASSAGES, shorten } from "./bounds.mjs";
import { escape, fenced, oneLine, place, quotation } from "./text.mjs";

/** @import { ChatClientOptions, ChatEvent, Citation, FoundPassage } from "@evidence-chat/widget/client" */
/** @import { PassageReader, RefusalEvent, Searched } from "@evidence-chat/widget/client" */
/** @import { Embedder } from "@evidence-chat/embedder" */

/**
 * The outcome of a question.
 * @typedef {{ text: string, sessionId?: string, hedged: boolean, mode?: "extractive" | "generated",
 *   citations: readonly Citation[], nearest: readonly FoundPassage[], refusal?: RefusalEvent, searched?: string,
 *   truncated: boolean, cut?: true }} Outcome
 */

/**
 * Asks a question. Throws a `ChatError`, or the reason of the signal.
 * @param {{ question: string, previous_question?: string, session_id?: string }} input
 * @param {{ embedder: Embedder, reader: PassageReader | undefined, client: ChatClientOptions, signal: AbortSignal,
 *   onProgress?: (message: string) => void }} context
 */
export async function ask(
  { question, previous_question, session_id },
  { embedder, reader, client, signal, onProgress },
) {
  const { fields } = await embedQuestion(question, previous_question, embedder, signal);
  const reading = reader && (await readFor(fields, reader, client, signal));
  const ids = { message_id: crypto.randomUUID(), ...(session_id && { session_id }) };
  const request = { ...fields, ...ids, ...(reading && { reading }) };
  const read = () => readOutcome(streamChat(request, client, signal), onProgress);
  const outcome = await read().catch((error) => {
    signal.throwIfAborted();
    // The same message_id costs nothing and gets the outcome that was lost.
    if (error instanceof ChatError && error.code === "connection_lost") return read();
    throw error;
  });
  outcome.truncated ||= fields.truncated === true;
  const structuredContent = structure(outcome);
  return { structuredContent, content: [{ type: /** @type {const} */ ("text"), text: writeText(structuredContent) }] };
}

/** @returns {Promise<Outcome>} */
async function readOutcome(
  /** @type {AsyncIterable<ChatEvent>} */ events,
  /** @type {((message: string) => void) | undefined} */ onProgress,
) {
  /** @type {Outcome} */
  const outcome = { text: "", hedged: false, citations: [], nearest: [], truncated: false };
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
        Object.assign(outcome, searchedOf(event), { cut: event.generation?.cut });
        break;
      case "refusal":
        Object.assign(outcome, { text: event.message, nearest: event.nearest, refusal: event, ...searchedOf(event) });
        if (event.persisted) outcome.sessionId = event.session_id;
        break;
    }
  }
  return outcome;
}

/** @param {Searched} event */
function searchedOf({ searched, truncated }) {
  return { truncated: truncated === true, ...(searched && { searched }) };
}

/** The structured content of a result, as ASK_OUTPUT describes it. */
function structure(/** @type {Outcome} */ outcome) {
  const { refusal, sessionId, searched, truncated } = outcome;
  const text = shorten(outcome.text);
  const budget = new ExcerptBudget();
  const citations = outcome.citations.map(({ excerpt, blocks: _blocks, available: _available, ...citation }) => ({
    ...citation,
    ...budget.take(excerpt),
  }));
  const nearest = outcome.nearest.slice(0, MAX_NEAR_PASSAGES).map(withoutExcerpt);
  const shortened = text !== outcome.text || budget.isExceeded || nearest.length < outcome.nearest.length;
  const rest = {
    citations,
    nearest,
    ...(sessionId && { session_id: sessionId }),
    ...(searched && { searched: shorten(searched) }),
    truncated,
    shortened,
  };
  return refusal
    ? { type: "refusal", text, reason: refusal.reason, suggestions: refusal.suggestions, ...rest }
    : { type: "answer", text, hedged: outcome.hedged, mode: outcome.mode, ...(outcome.cut && { cut: true }), ...rest };
}

/** @param {FoundPassage} passage */
function withoutExcerpt({ excerpt: _excerpt, blocks: _blocks, ...passage }) {
  return passage;
}

/** Renders a result as text: the answer, then its sources with their quotes. */
function writeText(/** @type {ReturnType<typeof structure>} */ structured) {
  const { type, text, searched, truncated, citations, nearest, ...rest } = structured;
  const hedged = "hedged" in rest && rest.hedged;
  const sources = citations.map((citation) => `[${citation.index}] ${place(citation)}${quotation(citation)}`);
  const near = nearest.map((passage) => `- ${place(passage)}`);
  return [
    type === "refusal" ? `No answer: ${text}` : fenced(text),
    ...("mode" in rest && rest.mode === "generated"
      ? ["Note: a language model wrote this answer from the sources below, in its own words."]
      : []),
    ...("cut" in rest ? ["Note: the answer ends before the model had finished it."] : []),
    ...(hedged ? ["Note: the passages are on the subject but may not answer the question."] : []),
    ...(searched
      ? [`Note: this was searched, the question together with the one before it: ${escape(oneLine(searched))}`]
      : []),
    ...(truncated ? ["Note: the question is longer than the model reads, so its end was ignored."] : []),
    ...(sources.length > 0 ? [["Sources:", ...sources].join("\n")] : []),
    ...(near.length > 0 ? [["Near the question, but not quoted:", ...near].join("\n")] : []),
  ].join("\n\n");
}

import { citedDocuments, HEDGE } from "@evidence-chat/widget/client";
import { markdown } from "./markdown.mjs";

/** @import { ChatEvent, CitedDocument, GenerationReport } from "@evidence-chat/widget/client" */

/** From the strongest. */
const STRENGTHS = /** @type {const} */ (["strong", "good", "partial"]);

/**
 * Turns the events of an answer into chunks of a chat completion: a role, text, and one last chunk with everything else.
 * @param {{ id: string, created: number, model: string }} head the fields that all chunks share; `created` is in seconds since 1970
 * @returns {(event: ChatEvent) => any[]} gives the chunks of the next event
 */
export function chunksOfEvents(head) {
  let content = "";
  /** @type {Partial<Extract<ChatEvent, { type: "answer_start" }>>} */
  let start = {};
  /** @type {Pick<Extract<ChatEvent, { type: "sources" }>, "citations" | "also_found" | "referenced_indices">} */
  let sources = { citations: [], also_found: [], referenced_indices: [] };
  const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish_reason = null) => ({
    object: "chat.completion.chunk",
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const opening = () => chunk({ role: "assistant", content: "" });
  const text = (/** @type {string} */ piece) => {
    content += piece;
    return chunk({ content: piece });
  };
  return (event) => {
    switch (event.type) {
      case "answer_start":
        start = event;
        return event.hedged ? [opening(), text(HEDGE)] : [opening()];
      case "answer_delta":
        return [text(markdown(event.text))];
      case "sources":
        sources = event;
        return [];
      case "answer_end": {
        const annotations = citedDocuments(sources.citations).map((document) => annotationOf(document, content));
        const { citations, also_found, referenced_indices } = sources;
        const { message_id, persisted, generation, searched, truncated, decided_by } = event;
        const { hedged = false, session_id, mode } = start;
        const strength = STRENGTHS.find((known) => citations.some((citation) => citation.strength === known));
        // Clients know the limit of tokens as the reason of an answer that ends too early.
        const finish_reason = generation?.cut ? "length" : "stop";
        return [
          {
            ...chunk(annotations.length > 0 ? { annotations } : {}, finish_reason),
            ...(citations.length > 0 && { citations: { sources: citations, referenced_indices } }),
            retrieval: { hedged, strength, also_found, decided_by, searched, truncated },
            session_id,
            message_id,
            persisted,
            mode,
            generation,
            usage: usageOf(generation),
          },
        ];
      }
      case "refusal": {
        const { message, reason, suggestions, session_id, persisted, searched, truncated, decided_by } = event;
        const nearest = event.nearest.length > 0 ? event.nearest : undefined;
        const refusal = { reason, suggestions, nearest };
        const retrieval = { hedged: false, also_found: [], refusal, decided_by, searched, truncated };
        // No usage: a model that declined may have been asked.
        return [opening(), text(message), { ...chunk({}, "stop"), retrieval, session_id, persisted }];
      }
      default:
        return [];
    }
  };
}

/** Joins the chunks of a completion into one document. */
export function completionOf(/** @type {any[]} */ chunks) {
  const { choices, ...rest } = chunks.at(-1);
  const content = chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join("");
  const { delta, finish_reason } = choices[0];
  // OpenAI's field for a refusal of the model stays empty. Ours is the content, so that every client shows it.
  const message = { role: "assistant", content, refusal: null, annotations: delta.annotations ?? [] };
  return { ...rest, object: "chat.completion", choices: [{ index: 0, message, logprobs: null, finish_reason }] };
}

/**
 * Tokens of a language model: none where the answer consists of quotes, `undefined` if a model was asked whose server does not count.
 * @param {GenerationReport | undefined} generation
 */
function usageOf(generation) {
  const { prompt_tokens, completion_tokens } = generation ?? { prompt_tokens: 0, completion_tokens: 0 };
  if (prompt_tokens === undefined || completion_tokens === undefined) return undefined;
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

/**
 * A document with the place of its first marker, in the form that OpenAI's web search has for sources.
 * @param {CitedDocument} document
 * @param {string} content
 */
function annotationOf({ id, title, url, passages }, content) {
  const [{ index, download_url }] = passages;
  const marker = `[${index}]`;
  // Code may have the same signs, but not at the beginning of a line.
  const places = [`\n${marker}`, ` ${marker}`].map((text) => content.indexOf(text));
  const before = content.slice(0, (places.find((at) => at >= 0) ?? content.length) + 1);
  // In characters, not in code units.
  const start_index = [...before].length;
  return {
    type: "url_citation",
    url_citation: {
      // Clients tell documents apart by their addresses.
      url: url ?? download_url ?? `urn:uuid:${id}`,
      title,
      start_index,
      end_index: start_index + marker.length,
    },
  };
}

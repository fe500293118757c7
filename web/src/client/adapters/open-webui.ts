import { ChatError } from "../errors.js";
import type { ChatEvent, Searched } from "../wire.js";
import { type CitedDocument, citedDocuments, HEDGE } from "../cited-documents.js";

/** An event for the event emitter of Open WebUI; only the types that an answer needs. */
export type OpenWebUiEvent =
  | { readonly type: "status"; readonly data: OpenWebUiStatus }
  | { readonly type: "message"; readonly data: { readonly content: string } }
  | { readonly type: "source"; readonly data: OpenWebUiSource }
  | { readonly type: "notification"; readonly data: { readonly type: "error"; readonly content: string } };

/** The current or completed step. */
export interface OpenWebUiStatus {
  readonly description: string;
  readonly done: boolean;
  readonly hidden?: boolean;
}

/** A document with its passages; the three lists run in parallel. */
export interface OpenWebUiSource {
  readonly source: { readonly id: string; readonly name: string; readonly url?: string };
  readonly document: readonly string[];
  readonly metadata: readonly OpenWebUiMetadata[];
  /** Cosine similarity of question and passage; Open WebUI shows it as relevance. */
  readonly distances: readonly number[];
}

/** The origin of a passage. */
export interface OpenWebUiMetadata {
  /** The document's id. Open WebUI groups passages by it, and would show a URL instead of the title. */
  readonly source: string;
  readonly name: string;
  readonly url?: string;
  readonly page?: number;
  readonly section?: string;
}

/**
 * Turns the events of an answer into events for Open WebUI. Open WebUI numbers sources in the order they arrive, so
 * they are sent in the order of their numbers and `[1]` in the text opens the right one.
 *
 * A `ChatError` becomes a notification; any other error is rethrown.
 */
export async function* toOpenWebUiEvents(
  events: AsyncIterable<ChatEvent>,
): AsyncGenerator<OpenWebUiEvent, void, undefined> {
  let isGenerated = false;
  yield { type: "status", data: { description: "Searching the documents", done: false } };
  try {
    for await (const event of events) {
      switch (event.type) {
        case "progress":
          yield { type: "status", data: { description: "Writing and checking the answer", done: false } };
          break;
        case "answer_start":
          isGenerated = event.mode === "generated";
          if (event.hedged) yield { type: "message", data: { content: HEDGE } };
          break;
        case "answer_delta":
          yield { type: "message", data: { content: event.text } };
          break;
        case "sources":
          for (const document of citedDocuments(event.citations)) yield { type: "source", data: source(document) };
          break;
        case "answer_end":
          yield { type: "status", data: noted(isGenerated ? GENERATED : QUOTED, event) };
          break;
        case "refusal":
          yield { type: "message", data: { content: event.message } };
          yield { type: "status", data: noted(REFUSED, event) };
          break;
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof ChatError)) throw thrown;
    yield { type: "notification", data: { type: "error", content: thrown.message } };
    yield { type: "status", data: { description: thrown.message, done: true } };
  }
}

const QUOTED = { description: "Answered from the documents", done: true, hidden: true };
/** Stays visible, because readers should know who wrote the answer. */
const GENERATED = { description: "Written by a language model from the documents", done: true };
const REFUSED = { description: "Not enough evidence for an answer", done: true };

/** The status with what was searched, if it was not just the question. Then it stays visible. */
function noted(status: OpenWebUiStatus, { searched, truncated }: Searched): OpenWebUiStatus {
  const notes = [
    ...(searched ? ["searched together with the question before"] : []),
    ...(truncated ? ["the question is longer than the AI reads"] : []),
  ];
  return notes.length > 0 ? { description: [status.description, ...notes].join("; "), done: true } : status;
}

function source({ id, title, url, passages }: CitedDocument): OpenWebUiSource {
  return {
    source: { id, name: title, ...(url !== undefined && { url }) },
    document: passages.map(({ excerpt }) => excerpt),
    metadata: passages.map(({ url, page, section }) => ({
      source: id,
      name: title,
      ...(url !== undefined && { url }),
      ...(page !== undefined && { page }),
      ...(section !== undefined && { section }),
    })),
    distances: passages.map(({ score }) => score),
  };
}

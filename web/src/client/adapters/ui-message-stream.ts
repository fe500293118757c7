import { embedQuestion, randomUuid, type TextEmbedder } from "../embed-question.js";
import { ChatError, type ChatErrorCode } from "../errors.js";
import { asObject, asString, optional } from "../json.js";
import type {
  AnswerMode,
  ChatEvent,
  ChatRequest,
  Citation,
  FoundPassage,
  GenerationReport,
  RefusalReason,
  Searched,
  Suggestion,
} from "../wire.js";
import { type CitedDocument, citedDocuments, HEDGE } from "../cited-documents.js";

/** Custom metadata of a message: its conversation, whether it is in the history, and who wrote it. */
export interface UiMessageMetadata extends Searched {
  readonly session_id?: string;
  readonly message_id?: string;
  readonly persisted: boolean;
  /** Missing means extractive. */
  readonly mode?: AnswerMode;
  /** Set if a language model was to write the answer. */
  readonly generation?: GenerationReport;
}

/** A part of the UI message stream of the Vercel AI SDK (protocol v1); only the parts that an answer needs. */
export type UiMessagePart =
  | { readonly type: "start" }
  | { readonly type: "text-start"; readonly id: string }
  | { readonly type: "text-delta"; readonly id: string; readonly delta: string }
  | { readonly type: "text-end"; readonly id: string }
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title: string }
  | { readonly type: "source-document"; readonly sourceId: string; readonly mediaType: string; readonly title: string }
  | { readonly type: "data-progress"; readonly data: { readonly stage: "writing" }; readonly transient: true }
  | {
      readonly type: "data-citations";
      readonly data: {
        readonly citations: readonly Citation[];
        readonly also_found: readonly FoundPassage[];
        readonly referenced_indices: readonly number[];
      };
    }
  | {
      readonly type: "data-refusal";
      readonly data: {
        readonly reason: RefusalReason;
        readonly suggestions: readonly Suggestion[];
        readonly nearest: readonly FoundPassage[];
      };
    }
  | {
      readonly type: "data-error";
      readonly data: { readonly code: ChatErrorCode; readonly retryable: boolean; readonly requestId?: string };
      readonly transient: true;
    }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "finish"; readonly messageMetadata: UiMessageMetadata };

/** Id of the text part; a message has only one. */
const TEXT = "text-1";

/**
 * Turns the events of an answer into the UI message stream of the Vercel AI SDK. To serve it, send the header
 * `x-vercel-ai-ui-message-stream: v1`, each part as `data: <JSON>` with an empty line, and `data: [DONE]` at the end.
 *
 * A `ChatError` becomes a `data-error` part with its code and then an `error` part; any other error is rethrown.
 */
export async function* toUiMessageStream(
  events: AsyncIterable<ChatEvent>,
): AsyncGenerator<UiMessagePart, void, undefined> {
  let sessionId: string | undefined;
  let mode: AnswerMode | undefined;
  let isTextOpen = false;
  function* addText(delta: string): Generator<UiMessagePart> {
    if (!isTextOpen) yield { type: "text-start", id: TEXT };
    isTextOpen = true;
    yield { type: "text-delta", id: TEXT, delta };
  }
  function* endText(): Generator<UiMessagePart> {
    if (isTextOpen) yield { type: "text-end", id: TEXT };
    isTextOpen = false;
  }
  yield { type: "start" };
  try {
    for await (const event of events) {
      switch (event.type) {
        case "progress":
          yield { type: "data-progress", data: { stage: event.stage }, transient: true };
          break;
        case "answer_start":
          sessionId = event.session_id;
          mode = event.mode;
          if (event.hedged) yield* addText(HEDGE);
          break;
        case "answer_delta":
          yield* addText(event.text);
          break;
        case "sources": {
          yield* endText();
          yield* citedDocuments(event.citations).map(source);
          const { citations, also_found, referenced_indices } = event;
          if (citations.length + also_found.length > 0)
            yield { type: "data-citations", data: { citations, also_found, referenced_indices } };
          break;
        }
        case "answer_end":
          yield* endText();
          yield finish({
            ...optional("session_id", sessionId),
            ...optional("message_id", event.message_id),
            persisted: event.persisted,
            ...optional("mode", mode),
            ...optional("generation", event.generation),
            ...searchedOf(event),
          });
          break;
        case "refusal": {
          yield* addText(event.message);
          yield* endText();
          const { reason, suggestions, nearest } = event;
          yield { type: "data-refusal", data: { reason, suggestions, nearest } };
          const { session_id, persisted } = event;
          yield finish({ ...optional("session_id", session_id), persisted, ...searchedOf(event) });
          break;
        }
      }
    }
  } catch (thrown) {
    if (!(thrown instanceof ChatError)) throw thrown;
    yield* endText();
    const { code, message, retryable, requestId } = thrown;
    yield { type: "data-error", data: { code, retryable, ...(requestId && { requestId }) }, transient: true };
    yield { type: "error", errorText: message };
  }
}

function source({ id, title, url, passages }: CitedDocument): UiMessagePart {
  if (url !== undefined) return { type: "source-url", sourceId: id, url, title };
  const mediaType = passages[0].content_type ?? "text/plain";
  return { type: "source-document", sourceId: id, mediaType, title };
}

function searchedOf({ searched, truncated }: Searched): Partial<UiMessageMetadata> {
  return { ...optional("searched", searched), ...optional("truncated", truncated) };
}

function finish(messageMetadata: UiMessageMetadata): UiMessagePart {
  return { type: "finish", messageMetadata };
}

/** A message of `useChat`; only what a question needs. */
export interface UiMessage {
  readonly role: string;
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
  /** `UiMessageMetadata` for an answer. */
  readonly metadata?: unknown;
}

/**
 * Turns the messages of a page that uses the Vercel AI SDK into the request for its last question. The last question before it that
 * got an answer or a refusal is sent with it, as it was searched, and it continues the conversation of the last answer that is in the history.
 *
 * Throws `invalid_request` if no message of the user has a text.
 */
export async function toChatRequest(
  messages: readonly UiMessage[],
  embedder: TextEmbedder,
  signal?: AbortSignal,
): Promise<ChatRequest> {
  const last = messages.map(isQuestion).lastIndexOf(true);
  const question = messages[last];
  if (!question) throw new ChatError("invalid_request", "No message of the user has a text.", { retryable: false });
  const earlier = messages.slice(0, last);
  const answered = earlier.map(({ role }) => role).lastIndexOf("assistant");
  const asked = earlier.slice(0, Math.max(0, answered)).filter(isQuestion).at(-1);
  const before = searchedFor(earlier[answered]) ?? (asked && textOf(asked));
  const sessionId = earlier.flatMap((message) => sessionOf(message) ?? []).at(-1);
  const { fields } = await embedQuestion(textOf(question), before, embedder, signal);
  return { ...fields, message_id: randomUuid(), ...(sessionId && { session_id: sessionId }) };
}

function isQuestion(message: UiMessage): boolean {
  return message.role === "user" && textOf(message) !== "";
}

function textOf({ parts }: UiMessage): string {
  return parts
    .flatMap(({ type, text }) => (type === "text" && text !== undefined ? text : []))
    .join("\n")
    .trim();
}

/** The text that was searched for a question and the question before it. */
function searchedFor(answer: UiMessage | undefined): string | undefined {
  return asString(asObject(answer?.metadata)?.searched);
}

/** The conversation of an answer, if it is in the history. */
function sessionOf({ role, metadata }: UiMessage): string | undefined {
  const { session_id, persisted } = asObject(metadata) ?? {};
  return role === "assistant" && persisted === true ? asString(session_id) : undefined;
}

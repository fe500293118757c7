import { embedQuestion, type TextEmbedder } from "../embed-question.js";
import { ChatError } from "../errors.js";
import { asObject, asString } from "../json.js";
import { randomUuid } from "../random-uuid.js";
import type { ChatRequest } from "../wire.js";

/** A message of `useChat`; only what a question needs. */
export interface UiMessage {
  readonly role: string;
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
  /** That of an answer is `UiMessageMetadata`. */
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
  const before = searchedOf(earlier[answered]) ?? (asked && textOf(asked));
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

/** What was searched for a question together with the one before it. */
function searchedOf(answer: UiMessage | undefined): string | undefined {
  return asString(asObject(answer?.metadata)?.searched);
}

/** The conversation of an answer, if it is in the history. */
function sessionOf({ role, metadata }: UiMessage): string | undefined {
  const { session_id, persisted } = asObject(metadata) ?? {};
  return role === "assistant" && persisted === true ? asString(session_id) : undefined;
}

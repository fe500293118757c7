import { decodeConfig, decodeMessagePage, decodeSession, decodeSessionPage } from "./decode-api.js";
import { type DownloadedFile, fileName } from "./download.js";
import { ChatError, connectionLost, invalidResponse } from "./errors.js";
import { parseObject } from "./json.js";
import {
  apiUrl,
  type ChatClientOptions,
  idleTimeout,
  readAll,
  send,
  sendForJson,
  sendWithoutReply,
  withAbortReason,
} from "./request.js";
import type { ChatConfig, Feedback, MessagePage, PageRequest, Session, SessionPage } from "./wire.js";

// Like `streamChat`, each of these functions throws a `ChatError`, or the signal's reason after an abort.

/** Reads the settings that a client needs. Sends a token only for an assistant that is not for everybody. */
export async function getConfig(options: ChatClientOptions, signal?: AbortSignal): Promise<ChatConfig> {
  const url = apiUrl(options.endpoint, "config", { assistant: options.assistant });
  const read = (anonymous: boolean) => sendForJson({ url, anonymous }, options, signal);
  const json = await read(true).catch((thrown: unknown) => {
    if (thrown instanceof ChatError && thrown.code === "unknown_assistant") return read(false);
    throw thrown;
  });
  return decodeConfig(json);
}

/** Lists a page of the user's conversations with the assistant, at most 100, the one with the newest message first. */
export async function listSessions(
  page: PageRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<SessionPage> {
  const url = apiUrl(options.endpoint, "sessions", { ...page, assistant: options.assistant });
  return decodeSessionPage(await sendForJson({ url }, options, signal));
}

/** Changes the title of a conversation; 1 to 200 characters. */
export async function renameSession(
  sessionId: string,
  title: string,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<Session> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}`);
  return decodeSession(await sendForJson({ url, method: "PATCH", body: { title } }, options, signal));
}

/** Deletes a conversation with its messages; deleting it again succeeds. */
export function deleteSession(sessionId: string, options: ChatClientOptions, signal?: AbortSignal): Promise<void> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}`);
  return unlessGone(sendWithoutReply({ url, method: "DELETE" }, options, signal));
}

/** Lists a page of a conversation's messages, at most 200, the oldest first. */
export async function listMessages(
  sessionId: string,
  page: PageRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<MessagePage> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}/messages`, { ...page });
  return decodeMessagePage(await sendForJson({ url }, options, signal));
}

/** An answer in the user's history. */
export interface AnswerId {
  readonly sessionId: string;
  /** The id in `answer_end` and in the history; not the `message_id` of the question. */
  readonly messageId: string;
}

/**
 * Says whether an answer helped, in place of what the user said about it before. `embedding`, the vector of the question, makes a
 * disliked answer count among the questions that the documents do not answer well.
 */
export function giveFeedback(
  answer: AnswerId,
  feedback: Feedback & { readonly embedding?: readonly number[] },
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<void> {
  return sendWithoutReply({ url: urlOf(answer, options), method: "PUT", body: feedback }, options, signal);
}

/** Takes the feedback back; of an answer that is gone, too. */
export function removeFeedback(answer: AnswerId, options: ChatClientOptions, signal?: AbortSignal): Promise<void> {
  return unlessGone(sendWithoutReply({ url: urlOf(answer, options), method: "DELETE" }, options, signal));
}

/** Succeeds, too, if what a request is about does not exist any more. */
async function unlessGone(request: Promise<void>): Promise<void> {
  await request.catch((thrown: unknown) => {
    if (!(thrown instanceof ChatError && thrown.code === "not_found")) throw thrown;
  });
}

function urlOf({ sessionId, messageId }: AnswerId, { endpoint }: ChatClientOptions): string {
  return apiUrl(
    endpoint,
    `sessions/${encodeURIComponent(sessionId)}/messages/${encodeURIComponent(messageId)}/feedback`,
  );
}

/**
 * Exports all data that the server stores about the user as a JSON file: conversations with their messages, and refused
 * questions. Throws as `streamChat` does; a truncated export throws `connection_lost`.
 */
export function exportMyData(options: ChatClientOptions, signal?: AbortSignal): Promise<DownloadedFile> {
  return withAbortReason(signal, async () => {
    const url = apiUrl(options.endpoint, "me/export");
    const response = await send({ url, accept: "application/json" }, options, signal);
    const content = await readAll(response, idleTimeout(options));
    assertComplete(await content.text(), response.status);
    return { blob: content, name: fileName(response, "evidence-chat-export.json") };
  });
}

/**
 * Deletes all data that the server stores about the user: conversations with their messages, refused questions, and the
 * outcomes cached for retries. It cannot be undone; deleting again succeeds. Throws as `streamChat` does.
 */
export function deleteMyData(options: ChatClientOptions, signal?: AbortSignal): Promise<void> {
  return sendWithoutReply({ url: apiUrl(options.endpoint, "me"), method: "DELETE" }, options, signal);
}

/** The server streams the file, so a truncated export arrives as malformed JSON. */
function assertComplete(text: string, status: number): void {
  const json = parseObject(text);
  if (!json && text.startsWith("{")) throw connectionLost();
  if (!Array.isArray(json?.sessions) || !Array.isArray(json.refused_questions)) throw invalidResponse(status);
}

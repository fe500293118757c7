import { decodeConfig, decodeMessagePage, decodeSession, decodeSessionPage } from "./decode-api.js";
import { ChatError } from "./errors.js";
import type { ChatClientOptions } from "./options.js";
import { withAbortReason, apiUrl, send, sendForJson } from "./request.js";
import type { ChatConfig, MessagePage, PageRequest, Session, SessionPage } from "./wire.js";

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
export async function deleteSession(
  sessionId: string,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<void> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}`);
  return withAbortReason(signal, async () => {
    try {
      const request = { url, method: "DELETE", accept: "application/json" } as const;
      await (await send(request, options, signal)).body?.cancel();
    } catch (thrown) {
      if (!(thrown instanceof ChatError && thrown.code === "not_found")) throw thrown;
    }
  });
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

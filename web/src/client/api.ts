import { decodeConfig, decodeMessagePage, decodeSession, decodeSessionPage } from "./decode-api.js";
import { ChatError } from "./errors.js";
import type { ChatClientOptions } from "./options.js";
import { abortFirst, apiUrl, send, sendForJson } from "./request.js";
import type { ChatConfig, MessagePage, PageRequest, Session, SessionPage } from "./wire.js";

// Like `streamChat`, each of these throws a `ChatError`, or the signal's reason after an abort.

/** The settings that a client needs; asks for no token. */
export async function getConfig(options: ChatClientOptions, signal?: AbortSignal): Promise<ChatConfig> {
  const url = apiUrl(options.endpoint, "config");
  return decodeConfig(await sendForJson({ url, anonymous: true }, options, signal));
}

/** A page of the user's conversations, the one with the newest message first; at most 100. */
export async function listSessions(
  page: PageRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<SessionPage> {
  const url = apiUrl(options.endpoint, "sessions", { ...page });
  return decodeSessionPage(await sendForJson({ url }, options, signal));
}

/** Gives a conversation another title, of 1 to 200 characters. */
export async function renameSession(
  sessionId: string,
  title: string,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<Session> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}`);
  return decodeSession(await sendForJson({ url, method: "PATCH", body: { title } }, options, signal));
}

/**
 * Deletes a conversation with its messages; one that is gone already is no error. `keepalive` is for a page that is
 * being left: the request is sent all the same, if the token is there at once.
 */
export async function deleteSession(
  sessionId: string,
  options: ChatClientOptions & { readonly keepalive?: boolean },
  signal?: AbortSignal,
): Promise<void> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}`);
  const { keepalive = false } = options;
  return abortFirst(signal, async () => {
    try {
      const request = { url, method: "DELETE", accept: "application/json", keepalive } as const;
      await (await send(request, options, signal)).body?.cancel();
    } catch (thrown) {
      if (!(thrown instanceof ChatError && thrown.code === "not_found")) throw thrown;
    }
  });
}

/** A page of a conversation's messages, the oldest first; at most 200. */
export async function listMessages(
  sessionId: string,
  page: PageRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<MessagePage> {
  const url = apiUrl(options.endpoint, `sessions/${encodeURIComponent(sessionId)}/messages`, { ...page });
  return decodeMessagePage(await sendForJson({ url }, options, signal));
}

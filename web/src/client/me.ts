import { type DownloadedFile, fileName } from "./download.js";
import { connectionLost, invalidResponse } from "./errors.js";
import { parseObject } from "./json.js";
import type { ChatClientOptions } from "./options.js";
import { withAbortReason, apiUrl, idleTimeout, readAll, send } from "./request.js";

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
  return withAbortReason(signal, async () => {
    const url = apiUrl(options.endpoint, "me");
    const response = await send({ url, method: "DELETE", accept: "application/json" }, options, signal);
    await response.body?.cancel();
  });
}

/** The server streams the file, so a truncated export arrives as malformed JSON. */
function assertComplete(text: string, status: number): void {
  const json = parseObject(text);
  if (!json && text.startsWith("{")) throw connectionLost();
  if (!Array.isArray(json?.sessions) || !Array.isArray(json.refused_questions)) throw invalidResponse(status);
}

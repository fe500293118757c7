import { type DownloadedFile, fileName } from "./download.js";
import { connectionLost, invalidResponse } from "./errors.js";
import { parseObject } from "./json.js";
import type { ChatClientOptions } from "./options.js";
import { abortFirst, apiUrl, idleTimeout, readAll, send } from "./request.js";

/**
 * Everything that the server keeps of the user, as a JSON file: conversations with their messages, and refused questions.
 * Throws as `streamChat` does; an export that was cut off is `connection_lost`, never a file.
 */
export function exportMyData(options: ChatClientOptions, signal?: AbortSignal): Promise<DownloadedFile> {
  return abortFirst(signal, async () => {
    const url = apiUrl(options.endpoint, "me/export");
    const response = await send({ url, accept: "application/json" }, options, signal);
    const content = await readAll(response, idleTimeout(options));
    assertComplete(await content.text(), response.status);
    return { blob: content, name: fileName(response, "evidence-chat-export.json") };
  });
}

/**
 * Deletes everything that the server keeps of the user: conversations with their messages, refused questions and the
 * outcomes kept for repeats. It cannot be undone; deleting again is no error. Throws as `streamChat` does.
 */
export function deleteMyData(options: ChatClientOptions, signal?: AbortSignal): Promise<void> {
  return abortFirst(signal, async () => {
    const url = apiUrl(options.endpoint, "me");
    const response = await send({ url, method: "DELETE", accept: "application/json" }, options, signal);
    await response.body?.cancel();
  });
}

/** The server writes the file while it reads: what ends too early is no JSON. */
function assertComplete(text: string, status: number): void {
  const json = parseObject(text);
  if (!json && text.startsWith("{")) throw connectionLost();
  if (!Array.isArray(json?.sessions) || !Array.isArray(json.refused_questions)) throw invalidResponse(status);
}

/** The part of the panel that loads when the visitor downloads a document. */
import { type DownloadedFile, downloadDocument } from "../client/download.js";
import type { ChatClientOptions } from "../client/request.js";
import { element } from "../dom/element.js";

/** Lifetime of the `blob:` URL: browsers read the file some time after the click. */
const KEEP_URL_MS = 60_000;

/** Saves a file through the browser's download. */
export function saveFile({ blob, name }: DownloadedFile): void {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_URL_MS);
}

/** Downloads a document's original file by its id, and saves it. */
export async function saveDocument(id: string, options: ChatClientOptions, signal: AbortSignal): Promise<void> {
  saveFile(await downloadDocument(id, options, signal));
}

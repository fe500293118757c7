import type { DownloadedFile } from "../client/download.js";
import { element } from "../dom/element.js";

/** How long the `blob:` URL stays valid: browsers read the file some time after the click. */
const KEEP_URL_MS = 60_000;

/** Saves a file through the browser's download. */
export function saveFile({ blob, name }: DownloadedFile): void {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_URL_MS);
}

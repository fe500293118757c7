import type { DownloadedFile } from "../client/download.js";
import { element } from "../dom/element.js";

/** Browsers read the file soon after the click; until then its address must hold. In milliseconds. */
const KEEP_FOR = 60_000;

/** Has the browser save a file. */
export function saveFile({ blob, name }: DownloadedFile): void {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_FOR);
}

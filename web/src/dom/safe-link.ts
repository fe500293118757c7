import { safeUrl } from "../client/safe-url.js";

/** The address if it is one the widget may link to: a web page, a mail address, or a file the widget made itself. */
export function safeLink(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  return /^(mailto|blob):/i.test(value) ? value : safeUrl(value);
}

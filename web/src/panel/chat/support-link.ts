import { safeUrl } from "../../client/safe-url.js";

/** The page's contact address: a web page or a mail address. */
export function supportLink(value: string | null): string | undefined {
  return value?.startsWith("mailto:") ? value : safeUrl(value);
}

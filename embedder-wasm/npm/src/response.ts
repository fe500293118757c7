import { EmbedderError, messageOf } from "./errors.js";
import { fetchUrl } from "./fetch-url.js";
import { TemporaryFailure } from "./temporary-failure.js";

/** Timeout, too early, too many requests: what a server may answer differently a moment later, beside all of 5xx. */
const TEMPORARY_STATUSES = [408, 425, 429];

/** Sends a GET; throws `network`, as a `TemporaryFailure` where the server could not be reached. */
export async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetchUrl(url, init);
  } catch (cause) {
    const what = `${shown(url)} could not be fetched (${messageOf(cause)}).`;
    if (url.startsWith("file:")) {
      throw new EmbedderError("network", `${what} Check that the file is there.`, { cause });
    }
    const hint = "Check the connection, and that the server allows this page's origin (CORS).";
    throw new TemporaryFailure(`${what} ${hint}`, { cause });
  }
}

/**
 * Throws `network` for an answer that does not hold the file asked for. `option` is the one that set the address.
 */
export function assertHoldsFile(response: Response, url: string, option: string): void {
  const { status, ok } = response;
  if (!ok) {
    void response.body?.cancel();
    const message = `${shown(url)} answered with status ${status}.`;
    if (status >= 500 || TEMPORARY_STATUSES.includes(status)) throw new TemporaryFailure(`${message} Try again later.`);
    throw new EmbedderError("network", `${message} Check ${option}.`);
  }
  // Servers of single-page applications answer every unknown address with the page.
  if (/^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
    void response.body?.cancel();
    throw new EmbedderError(
      "network",
      `${shown(url)} is a web page, not the file. Check ${option} and that the file was deployed.`,
    );
  }
}

/** The address without its query, where signed addresses have their secrets. */
export function shown(url: string): string {
  return url.replace(/[?#].*$/s, "");
}

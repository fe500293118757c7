import { EmbedderError, messageOf } from "./errors.js";
import type { OpenPort } from "./protocol.js";

/** An engine in the calling thread. Its code is loaded only where it is wanted: a page with a worker never needs it. */
export async function openInline(): Promise<OpenPort> {
  try {
    const { openInlinePort } = await import("./inline.js");
    return openInlinePort;
  } catch (cause) {
    throw new EmbedderError("network", `The embedder's code could not be loaded: ${messageOf(cause)}`, { cause });
  }
}

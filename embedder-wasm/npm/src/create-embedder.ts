import { EmbedderClient } from "./client.js";
import type { Embedder } from "./embedding.js";
import { EmbedderError, messageOf } from "./errors.js";
import { openWorker } from "./open-worker.js";
import { type EmbedderOptions, readOptions } from "./options.js";
import type { OpenPort } from "./protocol.js";
import { assertSupported } from "./support.js";

/**
 * Creates an embedder: loads the model from the browser's cache or downloads it, and starts the engine.
 *
 * One embedder serves a whole page; a second one needs as much memory again.
 *
 * @example
 * ```js
 * const embedder = await createEmbedder();
 * const { vector } = await embedder.embed("How do I get a refund?");
 * ```
 * @throws {@link EmbedderError} with any of its codes.
 */
export async function createEmbedder(options: EmbedderOptions = {}): Promise<Embedder> {
  const settings = readOptions(options);
  assertSupported(settings.mode);
  const open = settings.mode === "worker" ? openWorker(settings.workerUrl) : await openInline();
  return EmbedderClient.load(open, settings);
}

/** Opens an engine in the calling thread. Loads its code on demand: a page with a worker never needs it. */
async function openInline(): Promise<OpenPort> {
  try {
    const { openInlinePort } = await import("./inline.js");
    return openInlinePort;
  } catch (cause) {
    throw new EmbedderError("network", `The embedder's code could not be loaded: ${messageOf(cause)}`, { cause });
  }
}

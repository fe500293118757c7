import { EmbedderClient } from "./client.js";
import type { Embedder } from "./embedding.js";
import { EmbedderError } from "./errors.js";
import { openInline } from "./open-inline.js";
import { openWorker } from "./open-worker.js";
import { type EmbedderOptions, readOptions } from "./options.js";
import { assertSupported } from "./support.js";

/**
 * Makes an embedder: takes the model from the browser's cache or else downloads it, and starts the engine.
 *
 * One embedder serves a whole page; a second one takes the same memory again.
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
  if (settings.signal?.aborted) {
    throw new EmbedderError("aborted", "Loading was aborted.", { cause: settings.signal.reason });
  }
  assertSupported(settings.mode);
  const open = settings.mode === "worker" ? openWorker(settings.workerUrl) : await openInline();
  return EmbedderClient.load(open, settings);
}

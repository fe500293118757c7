import { missingFeature } from "@evidence-chat/model-loading/support";
import { WriterClient } from "./client.js";
import { WriterError } from "./errors.js";
import { openWorker } from "./open-worker.js";
import { readOptions, type WriterOptions } from "./options.js";
import type { Writer } from "./writer.js";

/** Whether a model file can run in this browser. Needs no network and takes no time. */
export function isSupported(): boolean {
  return missingFeature("worker") === null;
}

/**
 * Creates a writer from a model file: loads it from the browser's cache or downloads it, in a Web Worker. Ask the visitor
 * before the first download.
 *
 * @example
 * ```js
 * const writer = await createWriter({ modelUrl: "/models/SmolLM2-135M-Instruct.Q4_1.gguf" });
 * await writer.write([{ role: "user", content: "Say hello." }], { onText: (piece) => console.log(piece) });
 * await writer.dispose();
 * ```
 * @throws {@link WriterError} with any of its codes except `context_too_long`.
 */
export async function createWriter(options: WriterOptions): Promise<Writer> {
  const settings = readOptions(options);
  const missing = missingFeature("worker");
  if (missing !== null) {
    throw new WriterError(
      "unsupported",
      `This browser does not support ${missing}. Use Chrome or Edge 103, Firefox 114, Safari 16.4, or a later version.`,
    );
  }
  return WriterClient.load(openWorker(settings.workerUrl), settings);
}

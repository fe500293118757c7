import type { EmbeddedQuestion } from "../../client/embed-question.js";
import type { ChatClientOptions } from "../../client/options.js";
import { MAX_READING_MS, readFor } from "../../client/read-for.js";
import type { Reading } from "../../client/wire.js";
import { embedderErrorCode } from "../model/embedder-error.js";
import type { ReadingEmbedder } from "../model/model-loader.js";

/** After so many readings in a row that took too long, device or connection are too slow for them. */
const MAX_LATE = 2;

/** The reader of one panel. None of its failures is one of the chat. */
export class PanelReader {
  /** Has the reader loaded. */
  #embedder: ReadingEmbedder | undefined;
  #hasFailed = false;
  #lateInARow = 0;

  /** Loads the reader into an embedder, unless that has failed before. */
  async load(embedder: ReadingEmbedder): Promise<void> {
    if (this.#hasFailed || embedder === this.#embedder) return;
    try {
      await embedder.loadReader();
      this.#embedder = embedder;
    } catch (error) {
      // A widget that leaves the page disposes of its embedder, and may come back with another one.
      this.#hasFailed ||= embedderErrorCode(error) !== "aborted";
    }
  }

  /** What the reader says about a question; see `readFor`. Only with the embedder that has it. */
  async read(
    fields: EmbeddedQuestion["fields"],
    embedder: object,
    options: ChatClientOptions,
    signal: AbortSignal,
  ): Promise<Reading | undefined> {
    const reader = this.#embedder;
    if (embedder !== reader || this.#lateInARow === MAX_LATE) return undefined;
    const started = performance.now();
    const reading = await readFor(fields, reader, options, signal);
    const isLate = !reading && performance.now() - started >= MAX_READING_MS;
    this.#lateInARow = isLate ? this.#lateInARow + 1 : 0;
    return reading;
  }
}

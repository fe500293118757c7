/** The part of the panel that loads the reader and lets it read. */
import type { EmbeddedQuestion } from "../../client/embed-question.js";
import { readFor } from "../../client/read-for.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Reading } from "../../client/wire.js";
import { embedderErrorCode, type ReadingEmbedder } from "../model/model-loader.js";

/**
 * After so many questions in a row without a reading, another one would only wait for nothing: device or connection are too slow, the
 * site has turned searches off, or the reader cannot read the language.
 */
const MAX_MISSES = 2;

/** The reader of one panel. None of its failures is one of the chat. */
export class PanelReader {
  /** Has the reader loaded. */
  #embedder: ReadingEmbedder | undefined;
  #hasFailed = false;
  #misses = 0;
  readonly #onCrash: () => void;

  /** `onCrash`: the embedder has stopped, too. */
  constructor(onCrash: () => void) {
    this.#onCrash = onCrash;
  }

  /** Loads the reader into an embedder, unless that has failed before. */
  async load(embedder: ReadingEmbedder): Promise<void> {
    if (this.#hasFailed || embedder === this.#embedder) return;
    try {
      await embedder.loadReader();
      this.#embedder = embedder;
    } catch (error) {
      const code = embedderErrorCode(error);
      // A widget that leaves the page disposes of its embedder, and may come back with another one.
      this.#hasFailed ||= code !== "aborted";
      if (code === "crashed") this.#onCrash();
    }
  }

  /** Reads the passages of a question; see `readFor`. Only with the embedder that has the reader. */
  async read(
    fields: EmbeddedQuestion["fields"],
    embedder: object,
    options: ChatClientOptions,
    signal: AbortSignal,
  ): Promise<Reading | undefined> {
    const reader = this.#embedder;
    if (embedder !== reader || this.#misses === MAX_MISSES) return undefined;
    const reading = await readFor(fields, reader, options, signal);
    if (!signal.aborted) this.#misses = reading ? 0 : this.#misses + 1;
    return reading;
  }
}

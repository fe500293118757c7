import { asWriterError, WriterError } from "./errors.js";

/** A message of the prompt. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

/** Options of one text. */
export interface WriteOptions {
  /** The most tokens that the model may write. Default: 200. */
  readonly maxTokens?: number | undefined;
  /** Stops writing; the call rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each piece of the text, in order. */
  readonly onText?: ((piece: string) => void) | undefined;
}

/** How a text ended, and what it took. */
export interface WriteResult {
  /** Tokens of the messages; missing if the model does not tell. */
  readonly promptTokens?: number | undefined;
  /** Tokens that were written; missing if the model does not tell. */
  readonly completionTokens?: number | undefined;
  /** `stop`: the text is complete. `length`: it ended at `maxTokens`. */
  readonly ending: "stop" | "length";
}

/** How far loading the model has come. */
export interface LoadProgress {
  readonly loadedBytes: number;
  readonly totalBytes: number;
  /** Whether the bytes come from the browser's cache. */
  readonly isCached: boolean;
}

/** A language model on this device. Calls may overlap; they run one after the other. */
export interface Writer {
  /** Name of the model. */
  readonly name: string;

  /**
   * Continues a conversation.
   *
   * @throws {@link WriterError} `context_too_long`, `out_of_memory`, `aborted`, `crashed`.
   */
  write(messages: readonly ChatMessage[], options?: WriteOptions): Promise<WriteResult>;

  /** Frees the memory. All pending and later calls reject with `aborted`. */
  dispose(): Promise<void>;
}

/** Writes one text. Throws anything. */
export type WriteText = (messages: readonly ChatMessage[], text: TextOptions) => Promise<WriteResult>;

/** The options of one text with their defaults. */
export interface TextOptions {
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly onText: (piece: string) => void;
}

/** A writer that writes one text at a time, and settles a call as soon as it is aborted. */
export function queued(name: string, writeText: WriteText, free: () => unknown): Writer {
  const disposed = new AbortController();
  /** Settles when no text is being written. */
  let idle: Promise<unknown> = Promise.resolve();
  return {
    name,
    async write(messages, { maxTokens = 200, signal: given, onText } = {}) {
      // eslint-disable-next-line no-restricted-properties -- browsers with 64-bit memory or the Prompt API have it
      const signal = AbortSignal.any([disposed.signal, ...(given ? [given] : [])]);
      const written = idle.then(() => {
        signal.throwIfAborted();
        return writeText(messages, { maxTokens, signal, onText: (piece) => signal.aborted || onText?.(piece) });
      });
      idle = written.catch(() => undefined);
      const aborted = new Promise<never>((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
      try {
        return await Promise.race([aborted, written]);
      } catch (thrown) {
        if (signal.aborted) throw new WriterError("aborted", "The call was aborted.", { cause: thrown });
        throw asWriterError(thrown, "crashed", "The language model failed. Create a new writer");
      }
    },
    async dispose() {
      disposed.abort();
      await free();
    },
  };
}

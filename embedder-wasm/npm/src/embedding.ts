import type { LoadProgress } from "./progress.js";

/** The most tokens of a text that the model reads, including the two that mark its ends. */
export const MAX_TOKENS = 256;

/** One embedded text. */
export interface Embedding {
  /** 384 numbers. Vectors have unit length, so the dot product of two is their cosine similarity. */
  readonly vector: Float32Array;
  /** Tokens of the whole text before truncation, including the two that mark its ends: at least 2. */
  readonly tokens: number;
  /** Whether the text has more than {@link MAX_TOKENS} tokens, so that its end was ignored. */
  readonly truncated: boolean;
}

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call: it rejects with `aborted`, and what is not computed yet is skipped. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link Embedder.loadReader}. */
export interface ReaderOptions extends CallOptions {
  /** Called while loading makes progress, about five times a second. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** A passage, to find out which of its statements answer a question. */
export interface PassageToRead {
  /** Title and section, such as `Returns › Refunds`, or empty. Its last 40 tokens are read. */
  readonly heading: string;
  /** Sentences, rows of a table and items of a list, in the order of the passage. */
  readonly statements: readonly string[];
}

/** Turns texts into vectors, and reads passages. Calls may overlap; they run one after the other. */
export interface Embedder {
  /** 16 hex digits that identify model, tokenizer and engine. Compare only vectors with the same fingerprint. */
  readonly fingerprint: string;

  /** 16 hex digits that identify the reader. Compare only scores with the same fingerprint. */
  readonly readerFingerprint: string;

  /**
   * Embeds one text. Every string is valid; an empty one has a vector, too.
   *
   * @throws {@link EmbedderError} `bad_input` if `text` is not a string; `aborted`; `crashed`.
   */
  embed(text: string, options?: CallOptions): Promise<Embedding>;

  /**
   * Embeds many texts. Returns one embedding for each, in their order, with the same bits as
   * `embed`. Other calls run in between, so a long batch does not delay a short question.
   *
   * @throws {@link EmbedderError} `bad_input` if `texts` is not an array of strings; `aborted`; `crashed`.
   */
  embedBatch(texts: readonly string[], options?: CallOptions): Promise<Embedding[]>;

  /**
   * Counts the tokens of the whole text, including the two that mark its ends: `embed` truncates a
   * text with more than {@link MAX_TOKENS}. Takes far less time than `embed`, and does not wait for
   * a long batch.
   *
   * @throws {@link EmbedderError} `bad_input` if `text` is not a string; `aborted`; `crashed`.
   */
  countTokens(text: string, options?: CallOptions): Promise<number>;

  /**
   * Loads the reader, from the browser's cache or with a download of its own. Calls share one load,
   * which ends when all of them are aborted; a failed one can be repeated. Once it is loaded,
   * further calls resolve at once.
   *
   * @throws {@link EmbedderError} `network`, `integrity`, `timeout`, `aborted` or `crashed`.
   */
  loadReader(options?: ReaderOptions): Promise<void>;

  /**
   * Reads a question with each passage. Returns, for each statement of each passage, the logit that
   * it answers the question minus the logit that nothing in the passage does: larger is better, and
   * above 0 it is more likely the answer than that there is none. `null`: it was not read, because
   * question and passage have more than {@link MAX_TOKENS} tokens. Loads the reader first if
   * needed. Embeddings run between two passages, or a few short ones, so reading does not delay a
   * question for long.
   *
   * @throws {@link EmbedderError} `bad_input` if an argument is not of its type; those of `loadReader`.
   */
  readPassages(
    question: string,
    passages: readonly PassageToRead[],
    options?: CallOptions,
  ): Promise<(number | null)[][]>;

  /** Frees the memory and ends the worker. All pending and later calls reject with `aborted`. */
  dispose(): void;
}

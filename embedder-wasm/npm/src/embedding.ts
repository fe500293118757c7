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

/** Turns texts into vectors. Calls may overlap; they run one after the other. */
export interface Embedder {
  /** 16 hex digits that identify model, tokenizer and engine. Compare only vectors with the same fingerprint. */
  readonly fingerprint: string;

  /**
   * Embeds one text. Every string is valid; an empty one has a vector, too.
   *
   * @throws {@link EmbedderError} `bad_input` if `text` is not a string; `aborted`; `crashed`.
   */
  embed(text: string, options?: CallOptions): Promise<Embedding>;

  /**
   * Embeds many texts. Returns one embedding for each, in their order, with the same bits as `embed`. Other calls run in
   * between, so a long batch does not delay a short question.
   *
   * @throws {@link EmbedderError} `bad_input` if `texts` is not an array of strings; `aborted`; `crashed`.
   */
  embedBatch(texts: readonly string[], options?: CallOptions): Promise<Embedding[]>;

  /**
   * Counts the tokens of the whole text, including the two that mark its ends: `embed` truncates a text with more than
   * {@link MAX_TOKENS}. Takes far less time than `embed`, and does not wait for a long batch.
   *
   * @throws {@link EmbedderError} `bad_input` if `text` is not a string; `aborted`; `crashed`.
   */
  countTokens(text: string, options?: CallOptions): Promise<number>;

  /** Frees the memory and ends the worker. All pending and later calls reject with `aborted`. */
  dispose(): void;
}

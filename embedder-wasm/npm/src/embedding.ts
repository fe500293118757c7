/** Tokens that the model reads of a text, with the two that mark its ends. */
export const MAX_TOKENS = 256;

/** One embedded text. */
export interface Embedding {
  /** 384 numbers; their squares add up to 1, so a dot product of two vectors is their cosine similarity. */
  readonly vector: Float32Array;
  /** Tokens of the whole text, with the two that mark its ends, before truncation: at least 2. */
  readonly tokens: number;
  /** Whether the text had more than {@link MAX_TOKENS}, so that its end does not count. */
  readonly truncated: boolean;
}

/** Options of a single call. */
export interface CallOptions {
  /** Takes the call back: it rejects with `aborted`, and what has not been computed yet never is. */
  readonly signal?: AbortSignal | undefined;
}

/** Turns texts into vectors. Calls may overlap; they are answered one after the other. */
export interface Embedder {
  /** 16 hex digits that name model, tokenizer and engine. Compare only vectors that come from the same one. */
  readonly fingerprint: string;

  /**
   * Embeds one text. Every string is allowed; an empty one has a vector, too.
   *
   * @throws {@link EmbedderError} `bad_input` if `text` is not a string; `aborted`; `crashed`.
   */
  embed(text: string, options?: CallOptions): Promise<Embedding>;

  /**
   * Embeds many texts and gives one embedding for each, in their order: the same bits as `embed` gives for each alone.
   * Other calls are let in between, so a long batch does not hold up a short question.
   *
   * @throws {@link EmbedderError} `bad_input` if `texts` is not an array of strings; `aborted`; `crashed`.
   */
  embedBatch(texts: readonly string[], options?: CallOptions): Promise<Embedding[]>;

  /**
   * Counts the tokens of the whole text, with the two that mark its ends, as `embed` does: a text with more than
   * {@link MAX_TOKENS} would be truncated. Takes far less time than `embed`, and does not wait for a long batch.
   *
   * @throws {@link EmbedderError} `bad_input` if `text` is not a string; `aborted`; `crashed`.
   */
  countTokens(text: string, options?: CallOptions): Promise<number>;

  /** Frees the memory and ends the worker. Everything pending, and every later call, rejects with `aborted`. */
  dispose(): void;
}

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
  readonly promptTokens?: number;
  /** Tokens that were written; missing if the model does not tell. */
  readonly completionTokens?: number;
  /** `stop`: the text is complete. `length`: it ended at `maxTokens`. */
  readonly ending: "stop" | "length";
}

/** A language model on this device. Calls may overlap; they run one after the other. */
export interface Writer {
  /** Name of the model. */
  readonly name: string;

  /**
   * Continues a conversation, greedily.
   *
   * @throws {@link WriterError} `context_too_long`, `invalid_input`, `aborted`, `crashed`.
   */
  write(messages: readonly ChatMessage[], options?: WriteOptions): Promise<WriteResult>;

  /**
   * Counts the tokens of the messages, with those that mark their roles. Missing if the model cannot count.
   *
   * @throws {@link WriterError} `invalid_input`, `aborted`, `crashed`.
   */
  countTokens?(messages: readonly ChatMessage[]): Promise<number>;

  /** Frees the memory. All pending and later calls reject with `aborted`. */
  dispose(): Promise<void>;
}

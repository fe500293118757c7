/** Why an embedder could not be created or used. The set is closed. */
export type EmbedderErrorCode =
  "unsupported_browser" | "download_failed" | "initialization_failed" | "embedding_failed" | "disposed";

/** The one error class of this package; `message` is a sentence that can be shown to a user. */
export class EmbedderError extends Error {
  override readonly name = "EmbedderError";
  readonly code: EmbedderErrorCode;

  constructor(code: EmbedderErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of anything that can be thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

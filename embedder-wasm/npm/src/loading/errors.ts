/**
 * Why a file or a worker could not be loaded.
 *
 * - `network`: a file could not be fetched.
 * - `integrity`: a file was fetched but is not the expected one.
 * - `blocked`: the Content-Security-Policy forbids it.
 */
export type LoadingErrorCode = "network" | "integrity" | "blocked";

/** An error of this folder. The package turns it into an `EmbedderError`. `message` says what to do. */
export class LoadingError extends Error {
  override readonly name = "LoadingError";
  readonly code: LoadingErrorCode;

  constructor(code: LoadingErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A `network` error that a retry may resolve: a dropped connection, a busy server. */
export class RetryableError extends LoadingError {
  constructor(message: string, options?: ErrorOptions) {
    super("network", message, options);
  }
}

/** The message of anything that can be thrown, and that of its cause, where Node puts the reason. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message}: ${thrown.cause.message}` : thrown.message;
}

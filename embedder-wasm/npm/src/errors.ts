/**
 * Why an embedder could not be created or used. The set is closed.
 *
 * - `unsupported_browser`: no WebAssembly with SIMD and reference types, no module workers, or no
 *   `AbortSignal.timeout`. Known before any download.
 * - `blocked`: the Content-Security-Policy forbids WebAssembly or the Trusted Types policy. Known
 *   before any download.
 * - `timeout`: loading made no progress for `timeoutMs`.
 * - `network`: a file could not be fetched.
 * - `integrity`: a file was fetched but belongs to another version.
 * - `aborted`: the caller's signal was aborted, or the embedder was disposed.
 * - `bad_input`: an argument of the wrong type or out of range.
 * - `crashed`: the worker died, usually out of memory. All pending calls are rejected; create a new
 *   embedder.
 */
export type EmbedderErrorCode =
  "unsupported_browser" | "blocked" | "timeout" | "network" | "integrity" | "aborted" | "bad_input" | "crashed";

/** The only error class of this package. `message` says what happened and what to do. */
export class EmbedderError extends Error {
  override readonly name = "EmbedderError";
  readonly code: EmbedderErrorCode;

  constructor(code: EmbedderErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of anything that can be thrown, and of its cause, where Node puts the reason. */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  return thrown.cause instanceof Error ? `${thrown.message}: ${thrown.cause.message}` : thrown.message;
}

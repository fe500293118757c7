/**
 * Why a writer could not be created, or could not write. The set is closed.
 *
 * - `unsupported`: the browser lacks WebAssembly with 64-bit memory. Known before any download.
 * - `blocked`: the Content-Security-Policy forbids WebAssembly, the worker or the Trusted Types policy.
 * - `download_failed`: a file could not be fetched.
 * - `integrity`: the model was fetched but is not the expected one.
 * - `invalid_model`: the file is not a model that llama.cpp reads.
 * - `out_of_memory`: the model does not fit into this device's memory.
 * - `context_too_long`: the messages have more tokens than the model reads.
 * - `aborted`: the caller's signal was aborted, or the writer was disposed.
 * - `crashed`: the model failed. Create a new writer.
 */
export type WriterErrorCode =
  | "unsupported"
  | "blocked"
  | "download_failed"
  | "integrity"
  | "invalid_model"
  | "out_of_memory"
  | "context_too_long"
  | "aborted"
  | "crashed";

/** The only error class of this package. `message` says what happened and what to do. */
export class WriterError extends Error {
  override readonly name = "WriterError";
  readonly code: WriterErrorCode;

  constructor(code: WriterErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The error of this package for anything that can be thrown; `code` is for all other errors. `what` failed. */
export function asWriterError(thrown: unknown, code: WriterErrorCode, what: string): WriterError {
  return thrown instanceof WriterError
    ? thrown
    : new WriterError(code, `${what} (${messageOf(thrown)}).`, { cause: thrown });
}

/** The message of anything that can be thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

import { LoadingError, messageOf } from "@evidence-chat/model-loading/errors";

/**
 * Why a writer could not be created, or could not write. The set is closed.
 *
 * - `unsupported`: no WebAssembly with SIMD and reference types, no module workers, or no `AbortSignal.timeout`. Known before any
 *   download.
 * - `blocked`: the Content-Security-Policy forbids WebAssembly or the Trusted Types policy. Known before any download.
 * - `timeout`: loading made no progress for `timeoutMs`.
 * - `download_failed`: a file could not be fetched.
 * - `integrity`: a file was fetched but is not the expected one.
 * - `invalid_model`: the file is not a model that the engine reads.
 * - `out_of_memory`: the model does not fit into this device's memory.
 * - `context_too_long`: the messages have more tokens than the model reads.
 * - `invalid_input`: an argument of the wrong type or out of range.
 * - `aborted`: the caller's signal was aborted, or the writer was disposed.
 * - `crashed`: the worker died, usually out of memory. All pending calls are rejected; create a new writer.
 */
export type WriterErrorCode =
  | "unsupported"
  | "blocked"
  | "timeout"
  | "download_failed"
  | "integrity"
  | "invalid_model"
  | "out_of_memory"
  | "context_too_long"
  | "invalid_input"
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

const ENGINE_CODES: readonly WriterErrorCode[] = [
  "invalid_model",
  "out_of_memory",
  "context_too_long",
  "invalid_input",
];

/**
 * The error of this package for anything that can be thrown. WebAssembly throws plain errors with a `code`, and a trap if
 * it runs out of memory; `unknown` is the code for the rest.
 */
export function asWriterError(thrown: unknown, unknown: WriterErrorCode): WriterError {
  if (thrown instanceof WriterError) return thrown;
  const message = messageOf(thrown);
  if (thrown instanceof LoadingError) {
    return new WriterError(thrown.code === "network" ? "download_failed" : thrown.code, message, { cause: thrown });
  }
  const { code } = (thrown ?? {}) as { readonly code?: unknown };
  const known = ENGINE_CODES.find((each) => each === code);
  return new WriterError(known ?? unknown, message, { cause: thrown });
}

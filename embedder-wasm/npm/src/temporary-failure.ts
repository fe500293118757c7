import { EmbedderError } from "./errors.js";

/** A `network` error that may not happen again: a dropped connection, a busy server. */
export class TemporaryFailure extends EmbedderError {
  constructor(message: string, options?: ErrorOptions) {
    super("network", message, options);
  }
}

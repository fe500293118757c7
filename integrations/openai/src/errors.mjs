import { ChatError } from "@evidence-chat/widget/client";

/** An error in the form of OpenAI's API. */
export class AdapterError extends Error {
  /** @override */
  name = "AdapterError";

  /**
   * @param {number} status of HTTP
   * @param {string} code one of the API's error codes
   * @param {string} message what to do
   * @param {string | null} [param] the field of the request that is wrong
   */
  constructor(status, code, message, param = null) {
    super(message);
    this.status = status;
    this.body = { error: { message, type: typeOf(status), code, param } };
  }

  /** Whether the same request can succeed later. OpenAI's libraries repeat every 409 and 500 unless they are told not to. */
  get isRetryable() {
    return [429, 503, 504].includes(this.status);
  }
}

/** The error of a request that does not follow the contract, with the field that is wrong. */
export function invalidRequest(/** @type {string} */ message, /** @type {string | null} */ param = null) {
  return new AdapterError(400, "invalid_request", message, param);
}

/** The error that the client gets for a thrown value. */
export function asAdapterError(/** @type {unknown} */ thrown) {
  if (thrown instanceof AdapterError) return thrown;
  if (thrown instanceof ChatError) {
    const { code, message, status = 500 } = thrown;
    const isFromWorker = code !== "connection_lost" && code !== "invalid_response";
    return isFromWorker
      ? new AdapterError(status, code, message)
      : new AdapterError(503, "upstream_unavailable", message);
  }
  console.error(thrown);
  return new AdapterError(500, "internal", "The adapter failed.");
}

/** The class of an error, which OpenAI's clients branch on in addition to the status. */
function typeOf(/** @type {number} */ status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 429:
      return "rate_limit_error";
    default:
      return status < 500 ? "invalid_request_error" : "server_error";
  }
}

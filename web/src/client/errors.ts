import { asString, type JsonObject, optional } from "./json.js";

const SERVER_CODES = [
  "invalid_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "unknown_assistant",
  "conflict",
  "model_mismatch",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal",
  "upstream_unavailable",
  "upstream_timeout",
] as const;

/** The server's error codes, and two of the client: a lost connection and a response it cannot read. */
export type ChatErrorCode = (typeof SERVER_CODES)[number] | "connection_lost" | "invalid_response";

/**
 * Why a request is `unauthorized`: nobody is signed in, the server rejected the token, or the token could not be obtained.
 */
export type UnauthorizedReason = "signed_out" | "expired" | "unconfirmed";

/**
 * Why a request failed, where its code is not enough. `unreachable`: the server did not respond at all. `visitors_limited`: too many
 * visitors without an account came from one IP address.
 */
export type ChatErrorReason = UnauthorizedReason | "unreachable" | "visitors_limited";

/** Details of a failed request. */
export interface ChatErrorDetails {
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** HTTP status, if the server answered with an error status. */
  readonly status?: number;
  /** Seconds until the next attempt, as the server asks. */
  readonly retryAfterSeconds?: number;
  /** The server's id of this request, for support. */
  readonly requestId?: string;
  /** Always set for the code `unauthorized`; for `connection_lost` if no response began; for `rate_limited` if it is a sign-in. */
  readonly reason?: ChatErrorReason;
}

/**
 * A failed request. `message` is an English sentence for the user; it comes from the server, except for the codes
 * `unauthorized`, `connection_lost` and `invalid_response`.
 */
export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly code: ChatErrorCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  readonly reason: ChatErrorReason | undefined;

  constructor(code: ChatErrorCode, message: string, details: ChatErrorDetails, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryable = details.retryable;
    this.status = details.status;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.requestId = details.requestId;
    this.reason = details.reason;
  }
}

/** There was no response: the server is down, the network is, or the server does not allow the page's origin. */
export function unreachable(cause: unknown): ChatError {
  return new ChatError(
    "connection_lost",
    "The chat service could not be reached.",
    { retryable: true, reason: "unreachable" },
    { cause },
  );
}

/** The connection closed before the response was complete. */
export function connectionLost(cause?: unknown): ChatError {
  return new ChatError(
    "connection_lost",
    "The connection was lost before the answer was complete.",
    { retryable: true },
    { cause },
  );
}

/** The server sent a response that violates the API's contract. */
export function invalidResponse(status?: number): ChatError {
  const retryable = status === undefined || status >= 500;
  return new ChatError("invalid_response", "The server sent a reply that could not be read.", {
    retryable,
    ...(status !== undefined && { status }),
  });
}

/** Reads the error JSON; `status` is the HTTP status of the response, missing for an `error` event. */
export function decodeError(json: JsonObject | undefined, status?: number, retryAfterSeconds?: number): ChatError {
  const message = asString(json?.message);
  if (!json || !message) return invalidResponse(status);
  const code = SERVER_CODES.find((known) => known === json.code) ?? "internal";
  return new ChatError(code, message, {
    retryable: json.retryable === true,
    ...(code === "unauthorized" && { reason: "expired" }),
    ...optional("status", status),
    ...optional("retryAfterSeconds", retryAfterSeconds),
    ...optional("requestId", asString(json.request_id)),
  });
}

const SERVER_CODES = [
  "invalid_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "conflict",
  "model_mismatch",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "internal",
  "upstream_unavailable",
  "upstream_timeout",
] as const;

/** The server's error codes, and two of the client's own: a cut connection and an answer it cannot read. */
export type ChatErrorCode = (typeof SERVER_CODES)[number] | "connection_lost" | "invalid_response";

/**
 * Why somebody is `unauthorized`: nobody is signed in, the server refuses the token, or the page could not tell who is
 * signed in.
 */
export type UnauthorizedReason = "signed_out" | "expired" | "unconfirmed";

/** What is known about a failed request besides its code and message. */
export interface ChatErrorDetails {
  /** Whether sending the same request again can succeed. */
  readonly retryable: boolean;
  /** HTTP status, if the server answered with an error status. */
  readonly status?: number;
  /** How long the server asks to wait before the next attempt. */
  readonly retryAfterSeconds?: number;
  /** The server's name for this request, for support. */
  readonly requestId?: string;
  /** Given with the code `unauthorized`, always. */
  readonly reason?: UnauthorizedReason;
}

/**
 * A request that failed; `message` is an English sentence for the user. The words are the server's, except for the codes
 * `unauthorized`, `connection_lost` and `invalid_response`.
 */
export class ChatError extends Error {
  override readonly name = "ChatError";
  readonly code: ChatErrorCode;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly requestId: string | undefined;
  readonly reason: UnauthorizedReason | undefined;

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

/** The connection broke, or ended before the outcome was complete. */
export function connectionLost(cause?: unknown): ChatError {
  return new ChatError(
    "connection_lost",
    "The connection was lost before the answer was complete.",
    { retryable: true },
    { cause },
  );
}

/** The server sent something that is not in the contract. */
export function invalidResponse(status?: number): ChatError {
  const retryable = status === undefined || status >= 500;
  return new ChatError("invalid_response", "The server sent a reply that could not be read.", {
    retryable,
    ...(status !== undefined && { status }),
  });
}

/** Whether `code` is one of the server's. */
export function isServerCode(code: unknown): code is ChatErrorCode {
  return SERVER_CODES.some((known) => known === code);
}

import { ChatError, type ChatErrorCode, type ChatErrorReason } from "../../client/errors.js";
import type { Values } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import { embedderErrorCode } from "../model/embedder-error.js";

/** An error as it is shown to the visitor. */
export interface Problem {
  readonly code: string;
  readonly text: TextKey;
  readonly values: Values;
  readonly canRetry: boolean;
  /** Seconds until a retry makes sense. */
  readonly waitSeconds: number;
  /** The server's id of the request, for support. */
  readonly requestId: string | undefined;
}

/** Wait after a rate limit without a Retry-After header. */
const DEFAULT_WAIT_SECONDS = 10;

/** The problem to show for an error. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ChatError) return chatProblem(error);
  const code = embedderErrorCode(error);
  if (code === undefined) return GENERAL;
  const isUnsupported = code === "unsupported_browser";
  return {
    ...GENERAL,
    code,
    text: isUnsupported ? "modelUnsupportedText" : "errorEmbedding",
    canRetry: !isUnsupported,
  };
}

const GENERAL: Problem = {
  code: "internal",
  text: "errorInternal",
  values: {},
  canRetry: true,
  waitSeconds: 0,
  requestId: undefined,
};

function chatProblem(error: ChatError): Problem {
  const { code, retryable, requestId } = error;
  const retryAfterSeconds = error.retryAfterSeconds || (code === "rate_limited" ? DEFAULT_WAIT_SECONDS : 0);
  return {
    code,
    text: error.reason === undefined ? TEXTS[code] : REASON_TEXTS[error.reason],
    values: { count: retryAfterSeconds },
    canRetry: retryable,
    waitSeconds: retryAfterSeconds,
    requestId,
  };
}

const REASON_TEXTS: Readonly<Record<ChatErrorReason, TextKey>> = {
  signed_out: "errorUnauthorized",
  expired: "errorSignInExpired",
  unconfirmed: "errorSignInUnconfirmed",
  unreachable: "errorUnavailable",
  visitors_limited: "errorVisitorsLimited",
};

const TEXTS: Readonly<Record<ChatErrorCode, TextKey>> = {
  invalid_request: "errorInvalidRequest",
  unauthorized: "errorUnauthorized",
  forbidden: "errorForbidden",
  not_found: "errorNotFound",
  conflict: "errorConflict",
  model_mismatch: "errorModelMismatch",
  payload_too_large: "errorTooLarge",
  unsupported_media_type: "errorInvalidRequest",
  rate_limited: "errorRateLimited",
  internal: "errorInternal",
  upstream_unavailable: "errorUnavailable",
  upstream_timeout: "errorTimeout",
  connection_lost: "errorConnectionLost",
  invalid_response: "errorInvalidResponse",
};

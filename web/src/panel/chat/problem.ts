import { ChatError, type ChatErrorCode, type ChatErrorReason } from "../../client/errors.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translate, Values } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import { embedderErrorCode } from "../model/model-loader.js";

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
    text: error.reason === undefined ? (TEXTS[code] ?? GENERAL.text) : REASON_TEXTS[error.reason],
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

/** Other errors, which only a bug can cause, have the text of `internal`. */
const TEXTS: { readonly [code in ChatErrorCode]?: TextKey } = {
  unauthorized: "errorUnauthorized",
  forbidden: "errorForbidden",
  not_found: "errorNotFound",
  unknown_assistant: "errorUnknownAssistant",
  model_mismatch: "errorModelMismatch",
  rate_limited: "errorRateLimited",
  upstream_unavailable: "errorUnavailable",
  upstream_timeout: "errorTimeout",
  connection_lost: "errorConnectionLost",
  invalid_response: "errorInvalidResponse",
};

/** A notice with the problem. If a retry can help, its button counts down the wait that the server asked for. */
export function errorNotice(t: Translate, problem: Problem, onRetry: () => void): HTMLElement {
  const notice = element(
    "div",
    {
      class: "notice",
      part: "error",
      "data-role": "error",
      "data-code": problem.code,
      title: problem.requestId,
    },
    icon(icons.alert),
    element("p", { role: "alert", "data-role": "error-message" }, t(problem.text, problem.values)),
  );
  if (problem.canRetry) notice.append(retryButton(t, problem.waitSeconds, onRetry));
  return notice;
}

/** A notice of a failure, with a button to try again. */
export function failureNotice(t: Translate, role: string, text: TextKey, onRetry: () => void): HTMLElement {
  const retry = retryButton(t, 0, onRetry);
  return element("div", { class: "notice", "data-role": role }, icon(icons.alert), element("p", {}, t(text)), retry);
}

/** A button that is enabled after the wait. Keep it out of live regions: its label changes every second. */
export function retryButton(t: Translate, waitSeconds: number, onRetry: () => void): HTMLButtonElement {
  const label = element("span");
  const retry = button({ class: "button", part: "retry", "data-role": "retry" }, onRetry, icon(icons.retry), label);
  const until = performance.now() + waitSeconds * 1000;
  const count = () => {
    const seconds = Math.ceil((until - performance.now()) / 1000);
    retry.disabled = seconds > 0;
    label.replaceChildren(seconds > 0 ? t("retryIn", { count: seconds }).asText() : t("retry").asText());
    if (seconds > 0) setTimeout(count, 1000);
  };
  count();
  return retry;
}

/** Shows a notice in `place` while there is no network, until the signal aborts. */
export function watchNetwork(place: HTMLElement, t: Translate, signal: AbortSignal): void {
  const show = () => {
    const attributes = { class: "offline", "data-role": "offline" };
    place.replaceChildren(
      ...(navigator.onLine ? [] : [element("p", attributes, icon(icons.alert), element("span", {}, t("offline")))]),
    );
  };
  for (const type of ["online", "offline"]) addEventListener(type, show, { signal });
  show();
}

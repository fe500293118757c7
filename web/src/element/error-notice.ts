import { EmbedderError } from "@evidence-chat/embedder";
import { ChatError } from "../client/errors.js";
import { button, element, icon } from "./dom.js";
import { ICONS } from "./icons.js";

/** An error as the visitor sees it. */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly canRetry: boolean;
  /** Seconds until a retry makes sense. */
  readonly waitSeconds: number;
}

/** Puts any error into words. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ChatError) {
    const { code, message, retryable, retryAfterSeconds } = error;
    return { code, message, canRetry: retryable, waitSeconds: retryAfterSeconds ?? 0 };
  }
  if (error instanceof EmbedderError) {
    const unsupported = error.code === "unsupported_browser";
    const message = unsupported
      ? "This browser cannot run the AI that reads your question."
      : "Your question could not be processed.";
    return { code: error.code, message, canRetry: !unsupported, waitSeconds: 0 };
  }
  return { code: "internal", message: "Something went wrong.", canRetry: true, waitSeconds: 0 };
}

/** A notice with the problem and, where it can help, a retry button that counts down the wait the server asked for. */
export function errorNotice({ code, message, canRetry, waitSeconds }: Problem, onRetry: () => void): HTMLElement {
  const notice = element(
    "div",
    { class: "notice", part: "error", role: "alert", "data-role": "error", "data-code": code },
    icon(ICONS.alert),
    element(
      "p",
      { "data-role": "error-message" },
      canRetry || waitSeconds === 0 ? message : `${message} Try again in ${waitSeconds} s.`,
    ),
  );
  if (canRetry) {
    const label = element("span", {}, "Retry");
    const retry = button({ class: "button", part: "retry", "data-role": "retry" }, onRetry, icon(ICONS.retry), label);
    notice.append(retry);
    countDown(retry, label, waitSeconds);
  }
  return notice;
}

function countDown(retry: HTMLButtonElement, label: HTMLElement, seconds: number): void {
  retry.disabled = seconds > 0;
  label.textContent = seconds > 0 ? `Retry in ${seconds} s` : "Retry";
  if (seconds > 0) setTimeout(() => countDown(retry, label, seconds - 1), 1000);
}

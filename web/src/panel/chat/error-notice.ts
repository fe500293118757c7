import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translate } from "../../dom/translator.js";
import type { Problem } from "./problem.js";

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

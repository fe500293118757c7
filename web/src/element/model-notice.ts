import type { LoadProgress } from "@evidence-chat/embedder";
import { button, element, icon } from "./dom.js";
import { ICONS } from "./icons.js";
import type { ModelState } from "./model-loader.js";

/** The strip above the question box that tells how the model's loading goes. */
export class ModelNotice {
  readonly root = element("div", { class: "status" });
  readonly #onRetry: () => void;
  readonly #title = element("strong");
  readonly #bytes = element("span", { "data-role": "bytes" });
  readonly #bar = element("progress", { max: 1, "aria-label": "Initializing AI" });
  readonly #loading = element(
    "div",
    { class: "model-notice loading", part: "status", "data-role": "status", "data-status": "loading" },
    element("p", {}, this.#title, this.#bytes),
    this.#bar,
  );

  constructor(onRetry: () => void) {
    this.#onRetry = onRetry;
  }

  show(state: ModelState): void {
    switch (state.status) {
      case "idle":
      case "ready":
        return this.root.replaceChildren();
      case "loading":
        return this.#showProgress(state.progress);
      case "timed_out":
        return this.#showFailure(
          "Connection Timed Out",
          "The AI could not be loaded. Please check your connection.",
          this.#onRetry,
        );
      case "failed":
        return this.#showFailure(
          "The AI could not be loaded",
          "Please check your connection and try again.",
          this.#onRetry,
        );
      case "unsupported":
        return this.#showFailure(
          "Browser Not Supported",
          "Questions are read inside your browser, and this one lacks what that takes. Please use a recent version of Chrome, Edge, Firefox or Safari.",
        );
    }
  }

  #showProgress(progress: LoadProgress | null): void {
    const fraction = fractionOf(progress);
    this.#title.textContent =
      fraction === undefined ? "Initializing AI…" : `Initializing AI… ${Math.floor(fraction * 100)}%`;
    this.#bytes.textContent = amount(progress);
    if (fraction === undefined) this.#bar.removeAttribute("value");
    else this.#bar.value = fraction;
    // Updated in place: replacing it would restart its fade-in with each report.
    if (!this.#loading.isConnected) this.root.replaceChildren(this.#loading);
  }

  #showFailure(title: string, text: string, onRetry?: () => void): void {
    const notice = element(
      "div",
      { class: "model-notice failure", part: "status", role: "alert", "data-role": "status", "data-status": "failed" },
      icon(ICONS.alert),
      element("p", {}, element("strong", {}, title), element("span", {}, text)),
    );
    if (onRetry)
      notice.append(
        button({ class: "button", part: "retry", "data-role": "model-retry" }, onRetry, icon(ICONS.retry), "Retry"),
      );
    this.root.replaceChildren(notice);
  }
}

/** How much of the model is here; `undefined` before its first byte, and while it is being set up. */
function fractionOf(progress: LoadProgress | null): number | undefined {
  return progress && isReceiving(progress) ? progress.loadedBytes / progress.totalBytes : undefined;
}

function amount(progress: LoadProgress | null): string {
  if (progress?.phase === "initialize") return "Almost ready";
  if (!progress || !isReceiving(progress)) return "";
  return `${megabytes(progress.loadedBytes)} of ${megabytes(progress.totalBytes)} MB`;
}

function isReceiving({ phase, loadedBytes }: LoadProgress): boolean {
  return (phase === "download" || phase === "cache") && loadedBytes > 0;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

import type { LoadProgress } from "@evidence-chat/embedder";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translated, Translator, Values } from "../../dom/translator.js";
import type { Announcer } from "../chat/announcer.js";
import type { TextKey } from "../../texts/index.js";
import type { ModelState } from "./model-loader.js";

/** Actions of the notice. */
export interface ModelActions {
  readonly retry: () => void;
  readonly allow: () => void;
}

/**
 * The strip above the question box that shows the state of the model. Screen readers announce the request for consent, and a download: a
 * cached model loads too quickly to be announced.
 */
export class ModelNotice {
  readonly root = element("div");
  readonly #translator: Translator;
  readonly #actions: ModelActions;
  readonly #downloadBytes: number;
  readonly #announcer: Announcer;
  #isDownloading = false;
  readonly #title = element("strong");
  readonly #bytes = element("span", { "data-role": "bytes" });
  readonly #bar: HTMLProgressElement;
  readonly #loading: HTMLElement;

  constructor(translator: Translator, downloadBytes: number, announcer: Announcer, actions: ModelActions) {
    this.#translator = translator;
    this.#downloadBytes = downloadBytes;
    this.#announcer = announcer;
    this.#actions = actions;
    this.#bar = element("progress", { max: 1, "aria-label": translator.t("modelLoading") });
    this.#loading = element(
      "div",
      { class: "model-notice loading", part: "status", "data-role": "status", "data-status": "loading" },
      element("p", {}, this.#title, this.#bytes),
      this.#bar,
    );
  }

  show(state: ModelState): void {
    const { t } = this.#translator;
    this.#announce(state);
    switch (state.status) {
      case "idle":
      case "ready":
        return this.root.replaceChildren();
      case "loading":
        return this.#showProgress(state.progress);
      case "consent":
        return this.#askForConsent();
      case "timed_out":
        return this.#showFailure(t("modelTimedOut"), t("modelTimedOutText"), true);
      case "failed":
        return this.#showFailure(t("modelFailed"), t("modelFailedText"), true);
      case "unsupported":
        return this.#showFailure(t("modelUnsupported"), t("modelUnsupportedText"), false);
    }
  }

  #announce(state: ModelState): void {
    const isDownload = state.status === "loading" && state.progress?.phase === "download";
    const say = (text: TextKey, values?: Values) => this.#announcer.say(this.#translator.format(text, values));
    if (state.status === "consent") say("modelConsentText", { size: this.#megabytes(this.#downloadBytes, 0) });
    else if (isDownload && !this.#isDownloading) say("modelLoading");
    else if (state.status === "ready" && this.#isDownloading) say("modelReady");
    this.#isDownloading = isDownload || (this.#isDownloading && state.status === "loading");
  }

  #showProgress(progress: LoadProgress | null): void {
    const fraction = fractionOf(progress);
    const percent = fraction === undefined ? undefined : Math.floor(fraction * 100) / 100;
    this.#title.textContent =
      percent === undefined
        ? this.#translator.format("modelLoading")
        : this.#translator.format("modelPercent", { percent: this.#translator.number(percent, { style: "percent" }) });
    this.#bytes.textContent = this.#amount(progress);
    if (fraction === undefined) this.#bar.removeAttribute("value");
    else this.#bar.value = fraction;
    // Updated in place, because a replacement would restart the fade-in with each report.
    if (!this.#loading.isConnected) this.root.replaceChildren(this.#loading);
  }

  #askForConsent(): void {
    const { t } = this.#translator;
    const size = this.#megabytes(this.#downloadBytes, 0);
    this.root.replaceChildren(
      element(
        "div",
        {
          class: "model-notice",
          part: "status",
          role: "group",
          "data-role": "consent",
          "aria-label": t("modelConsent"),
        },
        icon(icons.download),
        twoLines(t("modelConsent"), t("modelConsentText", { size })),
        button(
          { class: "button", part: "retry", "data-role": "consent-yes" },
          this.#actions.allow,
          t("modelConsentYes", { size }),
        ),
      ),
    );
  }

  #showFailure(title: Translated, text: Translated, canRetry: boolean): void {
    const notice = element(
      "div",
      { class: "model-notice failure", part: "status", role: "alert", "data-role": "status", "data-status": "failed" },
      icon(icons.alert),
      twoLines(title, text),
      canRetry
        ? button(
            { class: "button", part: "retry", "data-role": "model-retry" },
            this.#actions.retry,
            icon(icons.retry),
            this.#translator.t("retry"),
          )
        : undefined,
    );
    this.root.replaceChildren(notice);
  }

  #amount(progress: LoadProgress | null): string {
    if (progress?.phase === "initialize") return this.#translator.format("modelAlmostReady");
    if (!progress || !isReceiving(progress)) return "";
    // The progress counts decompressed bytes, and the visitor was told the size of the download.
    const loaded = this.#megabytes((progress.loadedBytes / progress.totalBytes) * this.#downloadBytes);
    return this.#translator.format("modelBytes", { loaded, total: this.#megabytes(this.#downloadBytes) });
  }

  #megabytes(bytes: number, digits = 1): string {
    return this.#translator.number(bytes / 1e6, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
}

function twoLines(title: Translated, text: Translated): HTMLElement {
  return element("p", {}, element("strong", {}, title), element("span", {}, text));
}

/** The loaded fraction of the model; `undefined` before its first byte, and during initialisation. */
function fractionOf(progress: LoadProgress | null): number | undefined {
  return progress && isReceiving(progress) ? progress.loadedBytes / progress.totalBytes : undefined;
}

function isReceiving({ phase, loadedBytes }: LoadProgress): boolean {
  return (phase === "download" || phase === "cache") && loadedBytes > 0;
}

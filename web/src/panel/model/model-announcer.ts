import type { Translator } from "../../dom/translator.js";
import type { Announcer } from "../chat/announcer.js";
import type { ModelState } from "./model-loader.js";

/**
 * Makes screen readers announce a download of the model, and the request for consent. A cached model loads too quickly
 * to be announced.
 */
export class ModelAnnouncer {
  readonly #translator: Translator;
  readonly #downloadBytes: number;
  readonly #announcer: Announcer;
  #isDownloading = false;

  constructor(translator: Translator, downloadBytes: number, announcer: Announcer) {
    this.#translator = translator;
    this.#downloadBytes = downloadBytes;
    this.#announcer = announcer;
  }

  show(state: ModelState): void {
    const isDownload = state.status === "loading" && state.progress?.phase === "download";
    if (state.status === "consent") this.#askForConsent();
    else if (isDownload && !this.#isDownloading) this.#announcer.say(this.#translator.format("modelLoading"));
    else if (state.status === "ready" && this.#isDownloading)
      this.#announcer.say(this.#translator.format("modelReady"));
    this.#isDownloading = isDownload || (this.#isDownloading && state.status === "loading");
  }

  #askForConsent(): void {
    const size = this.#translator.number(this.#downloadBytes / 1e6, { maximumFractionDigits: 0 });
    this.#announcer.say(this.#translator.format("modelConsentText", { size }));
  }
}

import type { GenerationReport } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translated, Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import { waiting } from "../chat/reply-view.js";
import { leftOutNote } from "../citations/generated-note.js";
import type { Download } from "./writer-source.js";

/** Actions of a box. */
export interface BoxActions {
  readonly write: () => void;
  /** Called when the focused control is gone and there is no other one. */
  readonly leave: () => void;
}

/** Above the quotes of an answer: the offer to write it on this device, the progress, and the text. */
export class WriterBox {
  readonly root: HTMLElement;
  readonly #translator: Translator;
  readonly #actions: BoxActions;
  /** Shows the progress of loading the model, updated in place. */
  #progress: { readonly bytes: HTMLElement; readonly bar: HTMLProgressElement } | undefined;

  constructor(translator: Translator, actions: BoxActions) {
    this.#translator = translator;
    this.#actions = actions;
    this.root = element("section", {
      class: "on-device",
      part: "on-device",
      "data-role": "on-device",
      "aria-label": translator.t("writtenAnswer"),
    });
  }

  offer(): void {
    const { t } = this.#translator;
    this.#become(
      "offer",
      button({ class: "button", "data-role": "write" }, this.#actions.write, icon(icons.pencil), t("write")),
    );
  }

  consentText(download: Download): Translated {
    const { t } = this.#translator;
    return download.of === "model"
      ? t("writeConsentText", { size: this.#megabytes(download.bytes, 0) })
      : t("writeConsentBuiltIn");
  }

  /** Resolves to whether the visitor allows the download. */
  askForConsent(download: Download): Promise<boolean> {
    const { t } = this.#translator;
    const yes =
      download.of === "model"
        ? t("modelConsentYes", { size: this.#megabytes(download.bytes, 0) })
        : t("exportDownload");
    return new Promise((resolve) => {
      this.#become(
        "consent",
        element(
          "div",
          { role: "group", "aria-label": t("writeConsent") },
          element("p", {}, element("strong", {}, t("writeConsent"))),
          element("p", {}, this.consentText(download)),
          element(
            "p",
            { class: "row" },
            button({ class: "button", "data-role": "write-yes" }, () => resolve(true), icon(icons.download), yes),
            button({ class: "button quiet", "data-role": "write-no" }, () => resolve(false), t("notNow")),
          ),
        ),
      );
    });
  }

  /** `undefined` before the first bytes. */
  loading(
    progress: { readonly loadedBytes: number; readonly totalBytes: number } | undefined,
    cancel: () => void,
  ): void {
    const { t } = this.#translator;
    if (!this.#progress || this.root.dataset.state !== "loading") {
      const bytes = element("span", { "data-role": "write-bytes" });
      const bar = element("progress", { max: 1, "aria-label": t("writeLoading") });
      this.#become("loading", element("p", {}, t("writeLoading"), " ", bytes), bar, this.#cancelButton(cancel));
      this.#progress = { bytes, bar };
    }
    const { bytes, bar } = this.#progress;
    if (!progress || progress.totalBytes === 0 || progress.loadedBytes >= progress.totalBytes) {
      bytes.textContent = "";
      return bar.removeAttribute("value");
    }
    bar.value = progress.loadedBytes / progress.totalBytes;
    // The browser tells only the fraction of its own model.
    const loaded = this.#megabytes(progress.loadedBytes);
    const total = this.#megabytes(progress.totalBytes);
    bytes.textContent = progress.totalBytes > 1 ? this.#translator.format("modelBytes", { loaded, total }) : "";
  }

  writing(cancel: () => void): void {
    this.#become("writing", waiting(this.#translator, "writing", true), this.#cancelButton(cancel));
  }

  /** Shows the written answer. */
  show(...content: readonly HTMLElement[]): void {
    this.#become("written", ...content);
  }

  /** No sentence of the model was verified. */
  nothing(report: GenerationReport): void {
    const { t } = this.#translator;
    const note = leftOutNote(report, this.#translator);
    const text = element("p", {}, t("writeNothing"));
    this.#become("nothing", element("div", { class: "generated-note", role: "note" }, text, ...(note ? [note] : [])));
  }

  fail(text: TextKey, canRetry: boolean): void {
    const { t } = this.#translator;
    const retry = button(
      { class: "button", "data-role": "write-retry" },
      this.#actions.write,
      icon(icons.retry),
      t("retry"),
    );
    this.#become("failed", element("p", { role: "alert" }, t(text)), ...(canRetry ? [retry] : []));
  }

  #cancelButton(cancel: () => void): HTMLButtonElement {
    return button({ class: "button quiet", "data-role": "write-cancel" }, cancel, this.#translator.t("cancel"));
  }

  #become(
    state: "offer" | "consent" | "loading" | "writing" | "written" | "nothing" | "failed",
    ...content: readonly HTMLElement[]
  ): void {
    const { activeElement } = this.root.getRootNode() as ShadowRoot;
    const hadFocus = activeElement !== null && this.root.contains(activeElement);
    this.#progress = undefined;
    this.root.dataset.state = state;
    this.root.setAttribute("aria-busy", String(state === "loading" || state === "writing"));
    this.root.replaceChildren(...content);
    if (!hadFocus) return;
    // The buttons of a written answer are not what a visitor looks for next.
    const next = state === "written" ? null : this.root.querySelector("button");
    if (next) next.focus();
    else this.#actions.leave();
  }

  #megabytes(bytes: number, digits = 1): string {
    return this.#translator.number(bytes / 1e6, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  }
}

import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { lazyImport } from "../../dom/lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import type { PanelHost } from "../host.js";
import type { HistoryOptions, HistoryView } from "./history-view.js";

const loadHistory = lazyImport(() => import("./history-view.js"));

/** The history, in place of the conversation. Its code is loaded when it is needed for the first time. */
export class LazyHistory {
  /** Opens the history. */
  readonly button: HTMLButtonElement;
  /** Shows that the code could not be loaded. */
  readonly notice = element("div", { role: "status" });
  readonly #host: PanelHost;
  readonly #options: HistoryOptions;
  readonly #onChange: () => void;
  #view: HistoryView | undefined;
  #loading: Promise<HistoryView> | undefined;
  /** The request to open the history whose code is being loaded; a later action of the visitor replaces it. */
  #opening: object | undefined;

  /** `onChange` is called when the history has opened or closed. */
  constructor(host: PanelHost, options: Omit<HistoryOptions, "translator" | "back">, onChange: () => void) {
    const { translator } = host;
    const { t } = translator;
    this.#host = host;
    this.#options = { ...options, translator, back: () => this.close() };
    this.#onChange = onChange;
    this.button = button(
      { class: "icon-button", "data-role": "history-open", "aria-label": t("history"), title: t("history") },
      () => void this.#open(),
      icon(icons.history),
    );
  }

  close(): void {
    this.#opening = undefined;
    const view = this.#view;
    if (!view || view.root.hidden) return;
    const hadFocus = view.root.contains(this.#host.shadow.activeElement);
    view.hide();
    this.#show(false);
    if (hadFocus) this.button.focus();
  }

  /** Forgets everything for the next user. */
  clear(): void {
    this.#view?.clear();
    this.close();
  }

  async #open(): Promise<void> {
    const opening = (this.#opening = {});
    this.notice.replaceChildren();
    const view = await (this.#loading ??= this.#load()).catch(() => {
      this.#loading = undefined;
      this.#showFailure();
    });
    if (!view || opening !== this.#opening) return;
    this.#show(true);
    view.show();
  }

  #show(isOpen: boolean): void {
    this.#host.frame.body.hidden = isOpen;
    this.button.hidden = isOpen;
    this.#onChange();
  }

  async #load(): Promise<HistoryView> {
    const { HistoryView, styles } = await loadHistory();
    const { frame, shadow } = this.#host;
    adoptStyles(shadow, styles);
    this.#view = new HistoryView(this.#options);
    this.#view.root.hidden = true;
    frame.body.after(this.#view.root);
    return this.#view;
  }

  #showFailure(): void {
    const { t } = this.#host.translator;
    const onRetry = () => {
      // The button is removed with its notice, so the focus moves first.
      this.#host.frame.composer.focus();
      void this.#open();
    };
    this.notice.replaceChildren(
      element(
        "div",
        { class: "notice", "data-role": "history-missing" },
        icon(icons.alert),
        element("p", {}, t("historyFailed")),
        button({ class: "button", part: "retry", "data-role": "retry" }, onRetry, icon(icons.retry), t("retry")),
      ),
    );
  }
}

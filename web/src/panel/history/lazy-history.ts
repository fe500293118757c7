import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { lazyImport } from "../../dom/lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import type { PanelHost } from "../host.js";
import type { HistoryOptions, HistoryView } from "./history-view.js";

const loadHistory = lazyImport(() => import("./index.js"));

/** The history. Its code is loaded when it is needed for the first time. */
export class LazyHistory {
  /** Shows that the code could not be loaded. */
  readonly notice = element("div", { role: "status" });
  readonly #host: PanelHost;
  readonly #options: HistoryOptions;
  #view: HistoryView | undefined;
  #loading: Promise<HistoryView | undefined> | undefined;

  constructor(host: PanelHost, options: HistoryOptions) {
    this.#host = host;
    this.#options = options;
  }

  /** The view, if its code is loaded. */
  get view(): HistoryView | undefined {
    return this.#view;
  }

  /** Loads the view. After a failure, gives `undefined` and shows a notice whose button calls `retry`. */
  load(retry: () => void): Promise<HistoryView | undefined> {
    this.notice.replaceChildren();
    this.#loading ??= this.#load().catch(() => {
      this.#loading = undefined;
      this.#showFailure(retry);
      return undefined;
    });
    return this.#loading;
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

  #showFailure(retry: () => void): void {
    const { t } = this.#host.translator;
    const onRetry = () => {
      // The button is removed with its notice, so the focus moves first.
      this.#host.frame.composer.focus();
      retry();
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

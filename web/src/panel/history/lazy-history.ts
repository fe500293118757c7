import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { lazyImport } from "../../lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import { failureNotice } from "../chat/problem.js";
import type { PanelHost } from "../host.js";
import type { HistoryOptions, HistoryView } from "./history-view.js";

const loadHistory = lazyImport(() => import("./history-view.js"));

/** The history, in place of the conversation. */
export interface LazyHistory {
  /** Opens the history. */
  readonly button: HTMLButtonElement;
  /** Shows that the code could not be loaded. */
  readonly notice: HTMLElement;
  close(): void;
  /** Forgets everything for the next user. */
  clear(): void;
}

/** Loads the code of the history when it is opened for the first time. `onChange` is called when it has opened or closed. */
export function lazyHistory(
  { shadow, frame, translator }: PanelHost,
  options: Omit<HistoryOptions, "translator" | "back">,
  onChange: () => void,
): LazyHistory {
  const { t } = translator;
  const notice = element("div", { role: "status" });
  let view: HistoryView | undefined;
  let loading: Promise<HistoryView> | undefined;
  /** The request to open the history whose code is being loaded; a later action of the visitor replaces it. */
  let opening: object | undefined;

  const load = async () => {
    const { HistoryView, styles } = await loadHistory();
    adoptStyles(shadow, styles);
    view = new HistoryView({ ...options, translator, back: close });
    frame.body.after(view.root);
    return view;
  };
  const show = (isOpen: boolean) => {
    frame.body.hidden = isOpen;
    opener.hidden = isOpen;
    onChange();
  };
  const open = async () => {
    const request = (opening = {});
    notice.replaceChildren();
    const loaded = await (loading ??= load()).catch(() => {
      loading = undefined;
      notice.replaceChildren(failureNotice(t, "history-missing", "historyFailed", retry));
    });
    if (!loaded || request !== opening) return;
    show(true);
    loaded.show();
  };
  const retry = () => {
    // The button is removed with its notice, so the focus moves first.
    frame.composer.focus();
    void open();
  };
  const close = () => {
    opening = undefined;
    if (!view || view.root.hidden) return;
    const hadFocus = view.root.contains(shadow.activeElement);
    view.hide();
    show(false);
    if (hadFocus) opener.focus();
  };
  const opener = button(
    { class: "icon-button", "data-role": "history-open", "aria-label": t("history"), title: t("history") },
    () => void open(),
    icon(icons.history),
  );
  const clear = () => {
    view?.clear();
    close();
  };
  return { button: opener, notice, close, clear };
}

import { withoutBidiControls } from "../../client/text.js";
import { button, element, icon, onEscape } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";

/** Time to undo a deletion. The animation of `.history-undo` has the same duration, and pauses as the countdown does. */
const UNDO_MS = 6000;
/** A paused countdown ends then, so that a deletion is sent although its strip was left with the focus on it. */
const MAX_PAUSED_MS = 300_000;
const TICK_MS = 100;

/** A strip with an Undo button for a deletion. */
export interface UndoStrip {
  readonly root: HTMLElement;
  /** Focuses the Undo button. */
  focus(): void;
  /** Removes the strip and ends its countdown. */
  remove(): void;
}

/** The outcomes of a strip. */
export interface UndoOutcomes {
  /** The visitor pressed Undo. */
  readonly undo: () => void;
  /** The time has passed, or the visitor closed the strip with Escape. */
  readonly elapsed: () => void;
}

/** Creates a strip. Its countdown starts at once, and pauses while the pointer or the focus is on the strip. */
export function undoStrip({ t }: Translator, title: string, { undo, elapsed }: UndoOutcomes): UndoStrip {
  const text = element("p", { class: "history-strip-text clamped" }, t("deleted", { title: isolated(title) }));
  text.id = `history-undo-${++strips}`;
  const undoButton = button({ class: "button", "data-role": "undo", "aria-describedby": text.id }, undo, t("undo"));
  const root = element(
    "div",
    { class: "history-strip history-undo raised", part: "history-undo", "data-role": "undo-strip" },
    text,
    undoButton,
  );
  onEscape(root, elapsed);
  let left = UNDO_MS;
  let last = performance.now();
  const end = last + MAX_PAUSED_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    if (!root.matches(":hover, :focus-within")) left -= now - last;
    last = now;
    if (left <= 0 || now >= end) elapsed();
  }, TICK_MS);
  const remove = () => {
    clearInterval(timer);
    root.remove();
  };
  return { root, focus: () => undoButton.focus(), remove };
}

let strips = 0;

/** A strip that reports a failed change until it is closed. `closed` then moves the focus. */
export function failureStrip(translator: Translator, closed: () => void): HTMLElement {
  const { t } = translator;
  const close = () => {
    strip.remove();
    closed();
  };
  const strip = element(
    "div",
    { class: "history-strip history-failed raised", "data-role": "history-change-failed" },
    icon(icons.alert),
    element("p", { class: "history-strip-text clamped" }, t("historyChangeFailed")),
    button({ class: "icon-button", "aria-label": t("close") }, close, icon(icons.close)),
  );
  return strip;
}

/** The title in a bidi isolate, so that its direction does not affect the text around it. */
function isolated(title: string): string {
  return `\u2068${withoutBidiControls(title)}\u2069`;
}

import { withoutBidiControls } from "../../client/text.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";

/** How long a deletion can be undone. The animation of `.history-undo` has the same duration. */
const UNDO_MS = 6000;
/** A countdown that is paused ends then, so that a deletion is sent although its strip was left with the focus on it. */
const MAX_PAUSED_MS = 300_000;

/** The outcomes of a strip. */
export interface UndoOutcomes {
  /** The visitor pressed Undo. */
  undo(): void;
  /** The time has passed, or the visitor closed the strip with Escape. */
  elapsed(): void;
}

/** A strip with an Undo button for a deletion. Its countdown pauses while the pointer or the focus is on it. */
export class UndoStrip {
  readonly root: HTMLElement;
  readonly #countdown: Countdown;
  readonly #heldBy = new Set<"pointer" | "focus">();

  constructor(translator: Translator, title: string, { undo, elapsed }: UndoOutcomes) {
    const { t } = translator;
    const text = element("p", { class: "history-strip-text" }, t("deleted", { title: isolated(title) }));
    text.id = `history-undo-${++strips}`;
    this.root = element(
      "div",
      { class: "history-strip history-undo", part: "history-undo", "data-role": "undo-strip" },
      text,
      button({ class: "button", "data-role": "undo", "aria-describedby": text.id }, undo, t("undo")),
    );
    this.#countdown = new Countdown(UNDO_MS, elapsed);
    this.root.addEventListener("pointerenter", () => this.#hold("pointer"));
    this.root.addEventListener("pointerleave", () => this.#release("pointer"));
    this.root.addEventListener("focusin", () => this.#hold("focus"));
    this.root.addEventListener("focusout", () => this.#release("focus"));
    this.root.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      elapsed();
    });
  }

  /** Whether the focus is on the strip. */
  get hasFocus(): boolean {
    return this.#heldBy.has("focus");
  }

  /** Focuses the Undo button. */
  focus(): void {
    this.root.querySelector("button")?.focus();
  }

  /** Removes the strip and cancels its countdown. */
  remove(): void {
    this.#countdown.cancel();
    this.root.remove();
  }

  #hold(by: "pointer" | "focus"): void {
    this.#heldBy.add(by);
    this.#countdown.pause();
  }

  #release(by: "pointer" | "focus"): void {
    this.#heldBy.delete(by);
    if (this.#heldBy.size === 0) this.#countdown.resume();
  }
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
    { class: "history-strip history-failed", "data-role": "history-change-failed" },
    icon(icons.alert),
    element("p", { class: "history-strip-text" }, t("historyChangeFailed")),
    button({ class: "icon-button", "aria-label": t("close") }, close, icon(icons.close)),
  );
  return strip;
}

/** The title in a bidi isolate, so that its direction does not affect the text around it. */
function isolated(title: string): string {
  return `\u2068${withoutBidiControls(title)}\u2069`;
}

/** A timer that can be paused, but not for ever. It starts at once. */
export class Countdown {
  readonly #onEnd: () => void;
  /** Milliseconds. */
  #left: number;
  #startedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #limit: ReturnType<typeof setTimeout>;
  #isOver = false;

  constructor(milliseconds: number, onEnd: () => void) {
    this.#left = milliseconds;
    this.#onEnd = onEnd;
    this.#limit = setTimeout(() => this.#end(), MAX_PAUSED_MS);
    this.resume();
  }

  /** Pauses the timer and keeps the remaining time. */
  pause(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left -= performance.now() - this.#startedAt;
  }

  /** Continues with the remaining time. */
  resume(): void {
    if (this.#timer !== undefined || this.#isOver) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#end(), Math.max(0, this.#left));
  }

  /** Stops the timer for good. */
  cancel(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#limit);
  }

  #end(): void {
    this.cancel();
    this.#onEnd();
  }
}

import { byId } from "../pages/by-id.js";
import { button, type Child, element } from "../src/dom/element.js";

/** A page that is shown. */
export interface Shown {
  readonly stop: () => void;
  /** Asks the reader, if they would lose something. */
  readonly mayLeave?: () => Promise<boolean>;
  /** Whether the reader would lose something. */
  readonly isDirty?: () => boolean;
}

/** Says something to screen readers. */
export function announce(text: string): void {
  byId("announcement", HTMLElement).textContent = text;
}

/** A paragraph instead of what is not there. */
export function notice(...text: readonly Child[]): HTMLElement {
  return element("p", { class: "notice" }, ...text);
}

/** A figure with its name and a detail. */
export function tile(label: string, value: string, detail: string, more?: Node): HTMLElement {
  return element(
    "div",
    { class: "card tile" },
    element("dt", {}, label),
    element("dd", { class: "value" }, value),
    element("dd", { class: "detail" }, detail),
    more,
  );
}

/** The message of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Asks a question with two answers. Escape is "no". */
export function confirm(title: string, text: readonly string[], yes: string, no = "Cancel"): Promise<boolean> {
  return ask<boolean>(title, (close) => ({
    body: text.map((paragraph) => element("p", {}, paragraph)),
    actions: [button({}, () => close(false), no), button({ class: "primary" }, () => close(true), yes)],
  })).then((answer) => answer ?? false);
}

/** Shows a dialog until `close` is called. Resolves to undefined if the reader leaves it with Escape. */
export function ask<Answer>(
  title: string,
  fill: (close: (answer: Answer) => void) => { body: readonly HTMLElement[]; actions: readonly HTMLElement[] },
): Promise<Answer | undefined> {
  const heading = element("h2", { id: "dialog-title" }, title);
  const dialog = element("dialog", { class: "card", "aria-labelledby": heading.id });
  const opener = document.activeElement;
  let answer: Answer | undefined;
  const { body, actions } = fill((chosen) => {
    answer = chosen;
    dialog.close();
  });
  dialog.append(heading, ...body, element("div", { class: "actions" }, ...actions));
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (opener instanceof HTMLElement) opener.focus();
      resolve(answer);
    });
  });
}

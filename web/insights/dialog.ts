import { button, element } from "../src/dom/element.js";

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

import { button, element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";

/** What a title may be on the server, in characters. */
const MAX_TITLE_LENGTH = 200;

/** The form that changes a title in its place: Enter saves, Escape cancels. */
export interface RenameForm {
  readonly root: HTMLFormElement;
  /** Puts the cursor into the title, all of it selected. */
  focus(): void;
}

/** Makes the form. `done` gets the new title, or `undefined` if there is none: cancelled, empty or as it was. */
export function renameForm(
  translator: Translator,
  title: string,
  done: (title: string | undefined) => void,
): RenameForm {
  const { t } = translator;
  const input = element("input", {
    type: "text",
    class: "history-input",
    "data-role": "rename-input",
    "aria-label": t("renameTitle"),
    autocomplete: "off",
    dir: "auto",
    enterkeyhint: "done",
    maxlength: MAX_TITLE_LENGTH,
    value: title,
  });
  const root = element(
    "form",
    { class: "history-rename", "data-role": "rename-form" },
    input,
    element("button", { type: "submit", class: "button", "data-role": "rename-save" }, t("save")),
    button({ class: "button quiet", "data-role": "rename-cancel" }, () => done(undefined), t("cancel")),
  );
  const before = input.value.trim();
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = input.value.trim();
    done(wanted === "" || wanted === before ? undefined : wanted);
  });
  root.addEventListener("keydown", (event) => {
    // Escape also ends the composition of a character, and closes the panel.
    if (event.key !== "Escape" || event.isComposing) return;
    event.stopPropagation();
    event.preventDefault();
    done(undefined);
  });
  return {
    root,
    focus: () => {
      input.focus();
      input.select();
    },
  };
}

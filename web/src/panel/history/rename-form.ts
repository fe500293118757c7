import { button, element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";

/** The server's limit, in characters. */
const MAX_TITLE_LENGTH = 200;

/** An inline form that changes a title: Enter saves, Escape cancels. */
export interface RenameForm {
  readonly root: HTMLFormElement;
  /** Focuses the title and selects it. */
  focus(): void;
}

/** Creates the form. `done` gets the new title, or `undefined` if it was cancelled, empty or unchanged. */
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
    // During the composition of a character Escape ends it. Otherwise it would also close the panel.
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

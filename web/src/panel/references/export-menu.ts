import type { Citation } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import { ICONS } from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import type { ReferenceStyle } from "../../references/index.js";
import type { TextKey } from "../../texts/index.js";
import { saveFile } from "../save-file.js";
import css from "./references.css";

/** Style sheet of the export menu, for the panel to adopt. */
export const referenceStyles: string = css;

/**
 * A button that opens a place to export the references of an answer. What formats them is loaded when it is opened for
 * the first time. `citations` is asked each time.
 */
export function exportMenu(translator: Translator, citations: () => readonly Citation[]): HTMLElement {
  return new ExportMenu(translator, citations).root;
}

class ExportMenu {
  readonly root: HTMLElement;
  readonly #translator: Translator;
  readonly #citations: () => readonly Citation[];
  readonly #toggle: HTMLButtonElement;
  readonly #content: HTMLElement;
  readonly #preview: HTMLElement;
  readonly #status = element("span", { class: "references-status", role: "status" });
  readonly #actions: readonly HTMLButtonElement[];
  #style: ReferenceStyle = "apa";
  /** What the preview shows; empty while there is nothing to copy. */
  #text = "";
  /** Counts the previews begun: only the last one counts. */
  #previews = 0;

  constructor(translator: Translator, citations: () => readonly Citation[]) {
    const { t } = translator;
    this.#translator = translator;
    this.#citations = citations;
    this.#toggle = button(
      { class: "button quiet", "aria-expanded": "false", "data-role": "export" },
      () => this.#setOpen(this.#content.hidden),
      icon(ICONS.quote),
      t("exportReferences"),
    );
    this.#preview = element("pre", {
      class: "references-preview",
      dir: "auto",
      role: "region",
      tabindex: 0,
      "aria-label": t("exportReferences"),
      "data-role": "export-preview",
    });
    this.#actions = [
      button(
        { class: "button quiet", "data-role": "export-copy" },
        () => void this.#copy(),
        icon(ICONS.copy),
        t("exportCopy"),
      ),
      button(
        { class: "button quiet", "data-role": "export-download" },
        () => this.#download(),
        icon(ICONS.download),
        t("exportDownload"),
      ),
    ];
    this.#content = element(
      "div",
      { class: "references-content", hidden: true },
      this.#styleChoice(),
      this.#preview,
      element("div", { class: "references-actions" }, ...this.#actions, this.#status),
      // The licence of citeproc-js asks for it.
      element(
        "p",
        { class: "references-credit" },
        element(
          "a",
          { href: "https://github.com/juris-m/citeproc-js", target: "_blank", rel: "noopener noreferrer" },
          t("exportFormattedWith", { libraries: "Citation.js, citeproc-js" }),
        ),
      ),
    );
    this.root = element("div", { class: "references", part: "references" }, this.#toggle, this.#content);
    this.#content.addEventListener("keydown", (event) => this.#closeOnEscape(event));
  }

  #styleChoice(): HTMLElement {
    const name = `reference-style-${(groups += 1)}`;
    const choices = Object.entries(STYLES).map(([style, label]) => {
      const input = element("input", { type: "radio", name, value: style });
      input.checked = style === this.#style;
      input.addEventListener("change", () => {
        this.#style = style as ReferenceStyle;
        void this.#showPreview();
      });
      return element("label", { class: "references-style" }, input, label);
    });
    const legend = element("legend", {}, this.#translator.t("exportStyle"));
    return element("fieldset", { class: "references-styles" }, legend, ...choices);
  }

  #setOpen(isOpen: boolean): void {
    this.#content.hidden = !isOpen;
    this.#toggle.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) void this.#showPreview().then(() => this.#content.scrollIntoView({ block: "nearest" }));
  }

  #closeOnEscape(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    // Otherwise a floating panel closes as well.
    event.preventDefault();
    this.#setOpen(false);
    this.#toggle.focus();
  }

  async #showPreview(): Promise<void> {
    const preview = (this.#previews += 1);
    this.#show("");
    this.#preview.replaceChildren(this.#translator.t("loading").asText());
    try {
      const { formatReferences, sourcesOf } = await import("../../references/index.js");
      if (preview !== this.#previews) return;
      const text = formatReferences(sourcesOf(this.#citations(), new Date()), this.#style, this.#translator.language);
      this.#show(text);
    } catch {
      if (preview !== this.#previews) return;
      this.#preview.replaceChildren();
      this.#say("exportFailed");
    }
  }

  #show(text: string): void {
    this.#text = text;
    this.#preview.textContent = text;
    this.#status.replaceChildren();
    for (const action of this.#actions) action.disabled = text === "";
  }

  async #copy(): Promise<void> {
    try {
      // Missing where the page has no secure origin.
      await navigator.clipboard.writeText(this.#text);
      this.#say("copied");
    } catch {
      this.#say("copyFailed");
    }
  }

  #download(): void {
    const isBibtex = this.#style === "bibtex";
    saveFile({
      name: isBibtex ? "references.bib" : "references.txt",
      blob: new Blob([`${this.#text}\n`], { type: isBibtex ? "application/x-bibtex" : "text/plain;charset=utf-8" }),
    });
  }

  #say(key: TextKey): void {
    this.#status.replaceChildren(this.#translator.t(key).asText());
  }
}

/** Radio buttons of one name belong together, also across menus. */
let groups = 0;

/** Names of styles are the same in every language. */
const STYLES: Readonly<Record<ReferenceStyle, string>> = {
  apa: "APA",
  mla: "MLA",
  chicago: "Chicago",
  bibtex: "BibTeX",
};

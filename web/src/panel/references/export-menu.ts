import type { Citation } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import type { ReferenceFormat } from "../../references/index.js";
import type { TextKey } from "../../texts/index.js";
import { saveFile } from "../save-file.js";
import css from "./references.css";

/** Style sheet of the export menu, for the panel to adopt. */
export const referenceStyles: string = css;

/**
 * A button that opens the export of an answer's references. The code that formats them is loaded when it opens for the
 * first time. `citations` is called for each preview.
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
  #format: ReferenceFormat = "apa";
  /** The text of the preview; empty while there is nothing to copy. */
  #text = "";
  /** Number of the latest preview; an older one that finishes later is dropped. */
  #previews = 0;

  constructor(translator: Translator, citations: () => readonly Citation[]) {
    const { t } = translator;
    this.#translator = translator;
    this.#citations = citations;
    this.#toggle = button(
      { class: "button quiet", "aria-expanded": "false", "data-role": "export" },
      () => this.#setOpen(this.#content.hidden),
      icon(icons.quote),
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
        icon(icons.copy),
        t("exportCopy"),
      ),
      button(
        { class: "button quiet", "data-role": "export-download" },
        () => this.#download(),
        icon(icons.download),
        t("exportDownload"),
      ),
    ];
    this.#content = element(
      "div",
      { class: "references-content", hidden: true },
      this.#formatChoice(),
      this.#preview,
      element("div", { class: "references-actions" }, ...this.#actions, this.#status),
    );
    this.root = element("div", { class: "references", part: "references" }, this.#toggle, this.#content);
    this.#content.addEventListener("keydown", (event) => this.#closeOnEscape(event));
  }

  #formatChoice(): HTMLElement {
    const name = `reference-format-${(groups += 1)}`;
    const choices = Object.entries(FORMATS).map(([format, { label }]) => {
      const input = element("input", { type: "radio", name, value: format });
      input.checked = format === this.#format;
      input.addEventListener("change", () => {
        this.#format = format as ReferenceFormat;
        void this.#showPreview();
      });
      return element("label", { class: "references-style" }, input, label);
    });
    const legend = element("legend", {}, this.#translator.t("exportFormat"));
    return element("fieldset", { class: "references-styles" }, legend, ...choices);
  }

  #setOpen(isOpen: boolean): void {
    this.#content.hidden = !isOpen;
    this.#toggle.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) void this.#showPreview().then(() => this.#content.scrollIntoView({ block: "nearest" }));
  }

  #closeOnEscape(event: KeyboardEvent): void {
    if (event.key !== "Escape") return;
    // Otherwise the same key closes a floating panel.
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
      const text = formatReferences(sourcesOf(this.#citations(), new Date()), this.#format, this.#translator.language);
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
      // `clipboard` is undefined on a page without a secure origin.
      await navigator.clipboard.writeText(this.#text);
      this.#say("copied");
    } catch {
      this.#say("copyFailed");
    }
  }

  #download(): void {
    const { extension, type } = FORMATS[this.#format];
    saveFile({ name: `references.${extension}`, blob: new Blob([`${this.#text}\n`], { type }) });
  }

  #say(key: TextKey): void {
    this.#status.replaceChildren(this.#translator.t(key).asText());
  }
}

/** Numbers the menus: radio buttons with one name form a group across the whole widget. */
let groups = 0;

interface Format {
  /** The same in every language. */
  readonly label: string;
  readonly extension: string;
  /** MIME type of the file. */
  readonly type: string;
}

const PLAIN_TEXT = { extension: "txt", type: "text/plain;charset=utf-8" };

const FORMATS: Readonly<Record<ReferenceFormat, Format>> = {
  apa: { label: "APA", ...PLAIN_TEXT },
  mla: { label: "MLA", ...PLAIN_TEXT },
  chicago: { label: "Chicago", ...PLAIN_TEXT },
  bibtex: { label: "BibTeX", extension: "bib", type: "application/x-bibtex" },
  ris: { label: "RIS", extension: "ris", type: "application/x-research-info-systems" },
  "csl-json": { label: "CSL-JSON", extension: "json", type: "application/vnd.citationstyles.csl+json" },
};

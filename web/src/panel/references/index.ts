/** The part of the panel that loads when the visitor opens the export of references. */
import type { Citation } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { formatReferences, type ReferenceFormat, sourcesOf } from "../../references/index.js";
import type { TextKey } from "../../texts/index.js";
import { saveFile } from "../save-file.js";
import css from "./references.css";

/** Style sheet of the export, for its shadow root to adopt. */
export const styles: string = css;

/** The formats, a preview, and what can be done with it. */
export class ExportContent {
  readonly root: HTMLElement;
  readonly #translator: Translator;
  readonly #citations: () => readonly Citation[];
  readonly #preview: HTMLElement;
  readonly #status = element("span", { class: "small-print", role: "status" });
  readonly #actions: readonly HTMLButtonElement[];
  #format: ReferenceFormat = "apa";
  /** The text of the preview; empty if there is nothing to copy. */
  #text = "";

  /** `citations` is called for each preview. */
  constructor(translator: Translator, citations: () => readonly Citation[]) {
    const { t } = translator;
    this.#translator = translator;
    this.#citations = citations;
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
        t("copy"),
      ),
      button(
        { class: "button quiet", "data-role": "export-download" },
        () => this.#download(),
        icon(icons.download),
        t("exportDownload"),
      ),
    ];
    this.root = element(
      "div",
      { class: "references-content raised" },
      this.#formatChoice(),
      this.#preview,
      element("div", { class: "row" }, ...this.#actions, this.#status),
    );
  }

  #formatChoice(): HTMLElement {
    const name = `reference-format-${(groups += 1)}`;
    const choices = Object.entries(FORMATS).map(([format, { label }]) => {
      const input = element("input", { type: "radio", name, value: format });
      input.checked = format === this.#format;
      input.addEventListener("change", () => {
        this.#format = format as ReferenceFormat;
        this.#showPreview();
      });
      return element("label", { class: "choice" }, input, label);
    });
    const legend = element("legend", {}, this.#translator.t("exportFormat"));
    return element("fieldset", { class: "references-styles row" }, legend, ...choices);
  }

  /** Shows the export with a new preview, or hides it. */
  show(isOpen: boolean): void {
    this.root.hidden = !isOpen;
    if (!isOpen) return;
    this.#showPreview();
    this.root.scrollIntoView({ block: "nearest" });
  }

  #showPreview(): void {
    const text = formatReferences(sourcesOf(this.#citations(), new Date()), this.#format, this.#translator.language);
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

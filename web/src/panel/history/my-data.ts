import { deleteMyData, exportMyData } from "../../client/api.js";
import { ChatError } from "../../client/errors.js";
import type { ChatClientOptions } from "../../client/request.js";
import { button, element, fill, icon, onEscape, set } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import { errorNotice, problemOf } from "../chat/problem.js";
import { saveFile } from "../save-file.js";

/** Dependencies and callbacks of the visitor's data. */
export interface MyDataOptions {
  readonly translator: Translator;
  readonly client: () => ChatClientOptions;
  /** All data is about to be deleted: stop writing. */
  readonly deleting: () => void;
  /** All data is deleted. */
  readonly deleted: () => void;
}

type Action = "export" | "delete";

/** The texts while an action runs, when it is done, and when it fails. */
const TEXTS = {
  export: { running: "exportingData", done: "exportDataDone", failed: "exportDataFailed" },
  delete: { running: "deletingData", done: "deleteDataDone", failed: "deleteDataFailed" },
} as const satisfies Record<Action, Record<string, TextKey>>;

const IDS = { title: "my-data-title", text: "my-data-text" } as const;

/** Lets visitors export and delete all data that the server stores about them. */
export class MyData {
  readonly root: HTMLElement;
  readonly #options: MyDataOptions;
  readonly #export: HTMLButtonElement;
  readonly #delete: HTMLButtonElement;
  readonly #question: HTMLElement;
  readonly #cancel: HTMLButtonElement;
  /** The running or completed action. */
  readonly #state = element("p", { class: "my-data-state", role: "status", "data-role": "my-data-state" });
  #failure: HTMLElement | undefined;
  #running: AbortController | undefined;

  constructor(options: MyDataOptions) {
    this.#options = options;
    const { t } = options.translator;
    this.#export = button(
      { class: "button quiet", "data-role": "my-data-export" },
      () => void this.#run("export"),
      icon(icons.download),
      t("exportData"),
    );
    this.#delete = button(
      { class: "button quiet", "data-role": "my-data-delete" },
      () => this.#ask(),
      icon(icons.trash),
      t("deleteData"),
    );
    this.#cancel = button({ class: "button", "data-role": "my-data-cancel" }, () => this.#close(), t("cancel"));
    this.#question = this.#drawQuestion();
    this.root = element(
      "section",
      { class: "my-data", part: "my-data", "data-role": "my-data", "aria-label": t("myData") },
      element("div", { class: "row" }, this.#export, this.#delete),
      this.#question,
      this.#state,
    );
  }

  /** Closes the confirmation and clears the status. A running action continues. */
  hide(): void {
    this.#question.hidden = true;
    if (!this.#running && !this.#failure) this.#say();
  }

  /** Forgets everything for the next user and aborts an export. A deletion that was confirmed goes on. */
  clear(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#question.hidden = true;
    this.#say();
  }

  #drawQuestion(): HTMLElement {
    const { t } = this.#options.translator;
    const question = element(
      "div",
      {
        class: "notice my-data-question",
        role: "alertdialog",
        "aria-labelledby": IDS.title,
        "aria-describedby": IDS.text,
        "data-role": "my-data-question",
        hidden: true,
      },
      element("p", { id: IDS.title, class: "my-data-title" }, t("deleteDataTitle")),
      element("p", { id: IDS.text }, t("deleteDataText")),
      element(
        "div",
        { class: "row" },
        this.#cancel,
        button(
          { class: "button danger", "data-role": "my-data-confirm" },
          () => {
            this.#close();
            void this.#run("delete");
          },
          t("deleteDataYes"),
        ),
      ),
    );
    onEscape(question, () => this.#close());
    return question;
  }

  #ask(): void {
    if (this.#running) return;
    this.#say();
    this.#question.hidden = false;
    // A second press of Enter by mistake must not delete anything.
    this.#cancel.focus();
    this.#question.scrollIntoView?.({ block: "nearest" });
  }

  #close(): void {
    this.#question.hidden = true;
    this.#delete.focus();
  }

  async #run(action: Action): Promise<void> {
    if (this.#running) return;
    const running = new AbortController();
    const { signal } = running;
    this.#running = running;
    this.#question.hidden = true;
    this.#say(TEXTS[action].running);
    try {
      await (action === "export" ? this.#exportAll(signal) : this.#deleteAll());
      if (signal.aborted) return;
      this.#running = undefined;
      this.#say(TEXTS[action].done);
      if (action === "delete") this.#options.deleted();
    } catch (thrown) {
      if (signal.aborted) return;
      this.#running = undefined;
      this.#fail(action, thrown);
    }
  }

  async #exportAll(signal: AbortSignal): Promise<void> {
    const file = await exportMyData(this.#options.client(), signal);
    if (!signal.aborted) saveFile(file);
  }

  async #deleteAll(): Promise<void> {
    this.#options.deleting();
    await deleteMyData({ ...this.#options.client(), keepalive: true });
  }

  #say(text?: TextKey): void {
    const { t } = this.#options.translator;
    for (const each of [this.#export, this.#delete]) set(each, "aria-disabled", this.#running !== undefined && "true");
    this.#failure?.remove();
    this.#failure = undefined;
    this.#state.replaceChildren();
    if (text !== undefined) fill(this.#state, t(text));
  }

  #fail(action: Action, thrown: unknown): void {
    const { t } = this.#options.translator;
    const problem = { ...problemOf(thrown), text: failureText(action, thrown) };
    this.#say();
    const retry = () => {
      // The button is removed with its notice, so the focus moves first.
      (action === "export" ? this.#export : this.#delete).focus();
      void this.#run(action);
    };
    this.#failure = element("div", { "data-role": "my-data-failure" }, errorNotice(t, problem, retry));
    fill(this.root, this.#failure);
  }
}

function failureText(action: Action, thrown: unknown): TextKey {
  if (!(thrown instanceof ChatError)) return TEXTS[action].failed;
  if (thrown.reason === "signed_out") return "myDataSignIn";
  if (thrown.reason !== undefined) return problemOf(thrown).text;
  return thrown.code === "rate_limited" ? "tooManyRequests" : TEXTS[action].failed;
}

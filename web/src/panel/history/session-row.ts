import type { Session } from "../../client/wire.js";
import { button, element, fill, icon, set } from "../../dom/element.js";
import { ICONS } from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { renameForm } from "./rename-form.js";
import { ShortDate } from "./short-date.js";

/** What a visitor can do with a conversation of the list. */
export interface RowActions {
  open(session: Session): void;
  rename(session: Session, title: string): void;
  /** `byKeyboard`: the focus is worth keeping close. */
  delete(session: Session, byKeyboard: boolean): void;
}

/** One conversation of the list. */
export class SessionRow {
  readonly root: HTMLLIElement;
  readonly #translator: Translator;
  readonly #actions: RowActions;
  readonly #title = element("span", { class: "history-title", dir: "auto" });
  readonly #open: HTMLButtonElement;
  readonly #rename: HTMLButtonElement;
  readonly #delete: HTMLButtonElement;
  #session: Session;

  constructor(translator: Translator, session: Session, actions: RowActions) {
    this.#translator = translator;
    this.#actions = actions;
    this.#session = session;
    const date = this.#date();
    this.#open = button(
      { class: "history-open", part: "history-item", "data-role": "session-open", "aria-describedby": date.id },
      () => this.#actions.open(this.#session),
      this.#title,
    );
    this.#rename = button(
      { class: "icon-button", "data-role": "session-rename" },
      () => this.#edit(),
      icon(ICONS.pencil),
    );
    this.#delete = button(
      { class: "icon-button", "data-role": "session-delete" },
      // A click that comes from a key counts no presses of the pointer.
      ({ detail }) => this.#actions.delete(this.#session, detail === 0),
      icon(ICONS.trash),
    );
    this.root = element("li", { class: "history-row", "data-role": "session", "data-session-id": session.id });
    this.root.append(element("div", { class: "history-item" }, this.#open, date), this.#rename, this.#delete);
    this.show(session);
  }

  /** The conversation as it is shown. */
  get session(): Session {
    return this.#session;
  }

  /** Shows what has become of the conversation. */
  show(session: Session): void {
    this.#session = session;
    const { t } = this.#translator;
    const title = titleOf(session, this.#translator);
    this.#title.replaceChildren();
    fill(this.#title, session.title?.trim() ? session.title : t("historyUntitled"));
    set(this.#open, "aria-label", t("historyOpen", { title }));
    set(this.#rename, "aria-label", t("rename", { title }));
    set(this.#delete, "aria-label", t("delete", { title }));
  }

  /** Tells whether this is the conversation on the screen. */
  markCurrent(isCurrent: boolean): void {
    set(this.#open, "aria-current", isCurrent && "true");
  }

  /** Puts the focus on the conversation, or on what can be done with it. */
  focus(target: "open" | "delete" = "open"): void {
    (target === "open" ? this.#open : this.#delete).focus();
  }

  #date(): HTMLTimeElement {
    const { id, updated_at } = this.#session;
    const moment = new Date(updated_at);
    const date = element(
      "time",
      { class: "history-date", id: `history-date-${id}` },
      new ShortDate(this.#translator, moment),
    );
    if (!Number.isNaN(moment.getTime())) date.dateTime = moment.toISOString();
    return date;
  }

  #edit(): void {
    const buttons = [...this.root.children];
    const form = renameForm(this.#translator, this.#session.title ?? "", (title) => {
      this.root.replaceChildren(...buttons);
      this.#rename.focus();
      if (title !== undefined) this.#actions.rename(this.#session, title);
    });
    this.root.replaceChildren(form.root);
    form.focus();
  }
}

/** The title in a sentence. */
export function titleOf(session: Session, translator: Translator): string {
  return session.title?.trim() || translator.say("historyUntitled");
}

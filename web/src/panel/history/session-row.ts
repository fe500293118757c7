import type { Session } from "../../client/wire.js";
import { button, element, fill, icon, onEscape, set } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";

/** Actions of a conversation in the list. */
export interface RowActions {
  open(session: Session): void;
  rename(session: Session, title: string): void;
  /** `byKeyboard`: the focus should stay nearby. */
  delete(session: Session, byKeyboard: boolean): void;
}

/** One conversation of the list. */
export class SessionRow {
  readonly root: HTMLLIElement;
  readonly #translator: Translator;
  readonly #actions: RowActions;
  readonly #title = element("span", { class: "history-title clamped", dir: "auto" });
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
      icon(icons.pencil),
    );
    this.#delete = button(
      { class: "icon-button", "data-role": "session-delete" },
      // `detail` counts pointer presses; it is 0 for a click by keyboard.
      ({ detail }) => this.#actions.delete(this.#session, detail === 0),
      icon(icons.trash),
    );
    this.root = element("li", { class: "history-row", "data-role": "session", "data-session-id": session.id });
    this.root.append(element("div", { class: "history-item" }, this.#open, date), this.#rename, this.#delete);
    this.show(session);
  }

  /** The conversation of this row. */
  get session(): Session {
    return this.#session;
  }

  /** Shows the conversation, or an updated version of it. */
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

  /** Marks or unmarks this row as the current conversation. */
  markCurrent(isCurrent: boolean): void {
    set(this.#open, "aria-current", isCurrent && "true");
  }

  /** Focuses the conversation or its Delete button. */
  focus(target: "open" | "delete" = "open"): void {
    (target === "open" ? this.#open : this.#delete).focus();
  }

  #date(): HTMLTimeElement {
    const { id, updated_at } = this.#session;
    const moment = new Date(updated_at);
    const text = this.#translator.text(() => shortDate(moment, new Date(), this.#translator.language));
    const date = element("time", { class: "history-date", id: `history-date-${id}` }, text);
    if (!Number.isNaN(moment.getTime())) date.dateTime = moment.toISOString();
    return date;
  }

  #edit(): void {
    const buttons = [...this.root.children];
    const { root, input } = renameForm(this.#translator, this.#session.title ?? "", (title) => {
      this.root.replaceChildren(...buttons);
      this.#rename.focus();
      if (title !== undefined) this.#actions.rename(this.#session, title);
    });
    this.root.replaceChildren(root);
    input.focus();
    input.select();
  }
}

/** The title for use in a sentence. */
export function titleOf(session: Session, translator: Translator): string {
  return session.title?.trim() || translator.format("historyUntitled");
}

/**
 * "5 minutes ago", "yesterday", "3 days ago", "12 Nov" or "12 Nov 2024" in the language; empty for an invalid date. A
 * moment in the future, because clocks differ, counts as now.
 */
export function shortDate(moment: Date, now: Date, language: string): string {
  const milliseconds = now.getTime() - moment.getTime();
  if (Number.isNaN(milliseconds)) return "";
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
  const days = daysBetween(moment, now);
  if (minutes < 1) return relative.format(0, "second");
  if (minutes < 60) return relative.format(-minutes, "minute");
  if (days < 1) return relative.format(-Math.floor(minutes / 60), "hour");
  if (days < 7) return relative.format(-days, "day");
  const format: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (moment.getFullYear() !== now.getFullYear()) format.year = "numeric";
  return new Intl.DateTimeFormat(language, format).format(moment);
}

/** Calendar days between two moments in the visitor's time zone, which may have 23 or 25 hours. */
function daysBetween(from: Date, to: Date): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  return Math.round((midnight(to) - midnight(from)) / 86_400_000);
}

/** The server's limit, in characters. */
const MAX_TITLE_LENGTH = 200;

/**
 * An inline form that changes a title, and its input: Enter saves, Escape cancels. `done` gets the new title, or `undefined` if it was
 * cancelled, empty or unchanged.
 */
function renameForm(translator: Translator, title: string, done: (title: string | undefined) => void) {
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
  onEscape(root, () => done(undefined));
  return { root, input };
}

/** The part of the panel that loads when the visitor opens the history. */
import { listSessions } from "../../client/api.js";
import { ChatError } from "../../client/errors.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Session, SessionPage } from "../../client/wire.js";
import { button, element, fill, icon, set } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { lazyImport } from "../../lazy-import.js";
import type { Translator } from "../../dom/translator.js";
import type { TextKey } from "../../texts/index.js";
import type { Help } from "../help/index.js";
import { failureNotice } from "../chat/problem.js";
import { Deletions } from "./deletions.js";
import { MyData } from "./my-data.js";
import { Renames } from "./renames.js";
import { SessionRow } from "./session-row.js";
import { failureStrip } from "./strips.js";
import css from "./history.css";

/** Style sheet of the history, for the panel to adopt. */
export const styles: string = css;

/** Dependencies and callbacks of the history. */
export interface HistoryOptions {
  readonly translator: Translator;
  readonly client: () => ChatClientOptions;
  /** Whether the visitor needs no account and has never asked anything, so that there is no history. */
  readonly isNew: () => boolean;
  /** Id of the current conversation. */
  readonly current: () => string | undefined;
  readonly open: (session: Session) => void;
  /** A deletion can no longer be undone. */
  readonly deleted: (sessionId: string) => void;
  /** All data of the visitor is about to be deleted: stop writing. */
  readonly deletingAll: () => void;
  /** All data of the visitor is deleted. */
  readonly deletedAll: () => void;
  readonly back: () => void;
}

const PAGE_SIZE = 20;

const loadHelp = lazyImport(() => import("../help/index.js"));

/**
 * The list of the user's conversations. Hide it when the panel closes or is removed from the page: that sends the
 * requests of deletions that could still be undone.
 */
export class HistoryView {
  readonly root: HTMLElement;
  readonly #options: HistoryOptions;
  readonly #deletions: Deletions;
  readonly #renames: Renames;
  readonly #helpOpener: HTMLButtonElement;
  #help: Help | undefined;
  readonly #myData: MyData;
  readonly #rows = new Map<string, SessionRow>();
  readonly #heading: HTMLHeadingElement;
  readonly #list = element("ul", { class: "history-list", role: "list", "data-role": "history-list" });
  /** Shows that the list is loading or empty, or why it could not be loaded. */
  readonly #state = element("div", { class: "history-state", role: "status", "data-role": "history-state" });
  readonly #more: HTMLButtonElement;
  readonly #strips = element("div", { class: "history-strips", role: "status", "aria-atomic": "false" });
  #loading: AbortController | undefined;
  /** Cursor of the next page. */
  #cursor: string | undefined;
  #failure: TextKey | undefined;

  constructor(options: HistoryOptions) {
    this.#options = options;
    const { translator, client, deletingAll: deleting } = options;
    const { t } = translator;
    this.#myData = new MyData({ translator, client, deleting, deleted: () => this.#deletedAll() });
    this.#helpOpener = button(
      { class: "button quiet", "data-role": "help-open" },
      () => void this.#openHelp(),
      t("help"),
    );
    this.#heading = element("h3", { class: "history-heading", tabindex: -1 }, t("history"));
    this.#more = button(
      { class: "button history-more", "data-role": "history-more", hidden: true },
      () => void this.#load(),
      t("historyMore"),
    );
    this.root = element(
      "section",
      { class: "history", part: "history", "data-role": "history", "aria-label": t("history"), hidden: true },
      element(
        "div",
        { class: "history-bar" },
        button(
          { class: "icon-button history-back", "data-role": "history-back", "aria-label": t("historyBack") },
          () => options.back(),
          icon(icons.back),
        ),
        this.#heading,
        this.#helpOpener,
      ),
      element("div", { class: "history-scroll" }, this.#list, this.#state, this.#more),
      this.#myData.root,
      this.#strips,
    );
    this.#deletions = new Deletions({
      translator,
      client,
      strips: this.#strips,
      undone: (session) => this.#restore(session).focus("delete"),
      committed: (session, hadFocus) => {
        if (hadFocus) this.#heading.focus();
        options.deleted(session.id);
      },
      failed: (session) => {
        // A list that is being loaded again will contain it.
        const isListed = !this.root.hidden && !(this.#loading && this.#cursor === undefined);
        if (isListed) this.#restore(session);
        this.#showChangeFailed();
      },
    });
    this.#renames = new Renames({
      client,
      show: (session) => this.#rows.get(session.id)?.show(session),
      failed: () => this.#showChangeFailed(),
    });
  }

  /** Shows the view, loads the list and focuses the heading. */
  show(): void {
    this.root.hidden = false;
    this.#heading.focus();
    this.#empty();
    void this.#load();
  }

  /** Hides the view and sends the requests of pending deletions. */
  hide(): void {
    this.root.hidden = true;
    this.#help?.close();
    this.#loading?.abort();
    this.#myData.hide();
    this.#deletions.commit();
  }

  /** Forgets everything for the next user. Aborts requests, and sends those of pending deletions. */
  clear(): void {
    this.#myData.clear();
    this.#deletions.clear();
    this.#renames.clear();
    this.#empty();
    this.#strips.replaceChildren();
  }

  /** Drops pending deletions and renames, because their conversations are already deleted. */
  #deletedAll(): void {
    this.#deletions.discard();
    this.#renames.clear();
    this.#strips.replaceChildren();
    this.#empty();
    if (!this.root.hidden) void this.#load();
    this.#options.deletedAll();
  }

  async #openHelp(): Promise<void> {
    try {
      const { createHelp } = await loadHelp();
      this.#help ??= createHelp(this.#options.translator, this.root, this.#helpOpener);
      this.#help.show();
    } catch {
      this.#helpOpener.replaceChildren(this.#options.translator.t("loadFailed").asText());
    }
  }

  #empty(): void {
    this.#loading?.abort();
    this.#loading = undefined;
    this.#rows.clear();
    this.#list.replaceChildren();
    this.#cursor = undefined;
    this.#failure = undefined;
    this.#showState();
  }

  /** Loads the next page, or the first one. */
  async #load(): Promise<void> {
    if (this.#loading) return;
    const loading = new AbortController();
    this.#loading = loading;
    this.#failure = undefined;
    this.#showState();
    try {
      const request = { limit: PAGE_SIZE, cursor: this.#cursor };
      const page = await listSessions(request, this.#options.client(), loading.signal);
      if (!loading.signal.aborted) this.#addPage(page);
    } catch (thrown) {
      if (loading.signal.aborted) return;
      const failure = failureText(thrown);
      if (failure === "historySignIn" && this.#options.isNew()) this.#addPage({ sessions: [] });
      else this.#showFailure(failure);
    }
  }

  #addPage({ sessions, next_cursor }: SessionPage): void {
    const hadFocus = this.#more.matches(":focus");
    this.#loading = undefined;
    this.#cursor = next_cursor;
    const added: SessionRow[] = [];
    for (const session of sessions) {
      // A conversation that was continued meanwhile shifts others to the next page, where they appear again.
      if (this.#rows.has(session.id) || this.#deletions.has(session.id)) continue;
      const row = this.#row(this.#renames.applyTo(session));
      this.#list.append(row.root);
      added.push(row);
    }
    this.#showState();
    if (hadFocus) (added[0] ?? this.#heading).focus();
  }

  #showFailure(failure: TextKey): void {
    const hadFocus = this.#more.matches(":focus");
    this.#loading = undefined;
    this.#failure = failure;
    this.#showState();
    if (hadFocus) this.#state.querySelector("button")?.focus();
  }

  #retry(): void {
    void this.#load();
    (this.#more.hidden ? this.#heading : this.#more).focus();
  }

  #row(session: Session): SessionRow {
    const row = new SessionRow(this.#options.translator, session, {
      open: this.#options.open,
      rename: (renamed, title) => this.#renames.rename(renamed, title),
      delete: (deleted, byKeyboard) => this.#delete(deleted, byKeyboard),
    });
    row.markCurrent(session.id === this.#options.current());
    this.#rows.set(session.id, row);
    return row;
  }

  #delete(session: Session, byKeyboard: boolean): void {
    const root = this.#rows.get(session.id)?.root;
    const neighbour = root?.nextElementSibling ?? root?.previousElementSibling;
    root?.remove();
    this.#rows.delete(session.id);
    const strip = this.#deletions.add(session);
    this.#showState();
    if (byKeyboard) strip.focus();
    else ([...this.#rows.values()].find((row) => row.root === neighbour) ?? this.#heading).focus();
  }

  /** Inserts a conversation at its place in the order. */
  #restore(session: Session): SessionRow {
    const row = this.#rows.get(session.id) ?? this.#row(session);
    const isOlder = (child: Element) =>
      Date.parse(this.#sessionOf(child)?.updated_at ?? "") < Date.parse(session.updated_at);
    const next = [...this.#list.children].find((child) => child !== row.root && isOlder(child));
    this.#list.insertBefore(row.root, next ?? null);
    this.#showState();
    return row;
  }

  #sessionOf(child: Element): Session | undefined {
    return this.#rows.get((child as HTMLElement).dataset.sessionId ?? "")?.session;
  }

  #showChangeFailed(): void {
    this.#strips.querySelector("[data-role=history-change-failed]")?.remove();
    this.#strips.append(failureStrip(this.#options.translator, () => this.#heading.focus()));
  }

  #showState(): void {
    const { t } = this.#options.translator;
    const isEmpty = this.#rows.size === 0 && this.#cursor === undefined;
    this.#more.hidden = this.#cursor === undefined || this.#failure !== undefined;
    set(this.#more, "aria-disabled", this.#loading !== undefined && "true");
    this.#state.replaceChildren();
    if (this.#failure !== undefined)
      fill(
        this.#state,
        failureNotice(t, "history-failure", this.#failure, () => this.#retry()),
      );
    else if (this.#loading) fill(this.#state, element("p", { class: "history-loading" }, t("loading")));
    else if (isEmpty) fill(this.#state, element("p", { class: "history-empty" }, t("historyEmpty")));
  }
}

function failureText(thrown: unknown): TextKey {
  const reason = thrown instanceof ChatError ? thrown.reason : undefined;
  if (reason === "signed_out") return "historySignIn";
  return reason === "expired" ? "errorSignInExpired" : "historyFailed";
}

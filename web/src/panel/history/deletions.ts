import { deleteSession } from "../../client/api.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Session } from "../../client/wire.js";
import type { Translator } from "../../dom/translator.js";
import { titleOf } from "./session-row.js";
import { type UndoStrip, undoStrip } from "./strips.js";

/** Dependencies and callbacks of deletions. */
export interface DeletionsOptions {
  readonly translator: Translator;
  readonly client: () => ChatClientOptions;
  /** The container of the strips. */
  readonly strips: HTMLElement;
  /** The visitor has undone a deletion. */
  readonly undone: (session: Session) => void;
  /** A deletion can no longer be undone; `hadFocus` is whether its strip had the focus. */
  readonly committed: (session: Session, hadFocus: boolean) => void;
  /** The server failed to delete it. */
  readonly failed: (session: Session) => void;
}

interface PendingDeletion {
  readonly session: Session;
  readonly strip: UndoStrip;
  /** User and server at the time of the deletion; they may have changed when the request is sent. */
  readonly client: ChatClientOptions;
}

/** Deleted conversations. A deletion can be undone for a while, and as long as the page is seen; only then the request is sent. */
export class Deletions {
  readonly #options: DeletionsOptions;
  readonly #pending = new Map<string, PendingDeletion>();
  /** Deletions whose request was sent. A list that was requested before may still contain them. */
  readonly #sent = new Set<string>();
  /** Replaced when everything is forgotten, so that late failures are not reported. */
  #life = {};

  constructor(options: DeletionsOptions) {
    this.#options = options;
  }

  /** Whether the visitor has deleted a conversation. */
  has(sessionId: string): boolean {
    return this.#pending.has(sessionId) || this.#sent.has(sessionId);
  }

  /** Deletes a conversation unless the visitor undoes it in time; gives the strip with the Undo button. */
  add(session: Session): UndoStrip {
    const { translator, client, strips, undone } = this.#options;
    const strip = undoStrip(translator, titleOf(session, translator), {
      undo: () => {
        this.#take(session.id);
        undone(session);
      },
      elapsed: () => this.#commit(session.id),
    });
    const options = client();
    // While the page is being left there is no time to get a token.
    const token = options.tokenProvider().catch(() => null);
    this.#pending.set(session.id, { session, strip, client: { ...options, tokenProvider: () => token } });
    strips.append(strip.root);
    addEventListener("pagehide", this.#leave);
    document.addEventListener("visibilitychange", this.#leave);
    return strip;
  }

  /** Sends the requests of all pending deletions. */
  commit(): void {
    for (const id of [...this.#pending.keys()]) this.#commit(id);
  }

  /** Sends the requests of all pending deletions and forgets them. */
  clear(): void {
    this.commit();
    this.#life = {};
    this.#sent.clear();
  }

  /** Forgets all deletions without a request, because the data is already deleted. */
  discard(): void {
    for (const id of [...this.#pending.keys()]) this.#take(id);
    this.#life = {};
    this.#sent.clear();
  }

  /** A phone drops a page that it has hidden without another event. */
  readonly #leave = ({ type }: Event): void => {
    if (type === "pagehide" || document.hidden) this.commit();
  };

  #commit(id: string): void {
    const hadFocus = this.#pending.get(id)?.strip.root.matches(":focus-within") ?? false;
    const pending = this.#take(id);
    if (!pending) return;
    this.#sent.add(id);
    void this.#send(pending);
    this.#options.committed(pending.session, hadFocus);
  }

  async #send({ session, client }: PendingDeletion): Promise<void> {
    const life = this.#life;
    try {
      await deleteSession(session.id, { ...client, keepalive: true });
    } catch {
      // The visitor has changed and must not see the failure.
      if (life !== this.#life) return;
      this.#sent.delete(session.id);
      this.#options.failed(session);
    }
  }

  /** Removes a pending deletion. */
  #take(id: string): PendingDeletion | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.strip.remove();
    if (this.#pending.size > 0) return pending;
    removeEventListener("pagehide", this.#leave);
    document.removeEventListener("visibilitychange", this.#leave);
    return pending;
  }
}

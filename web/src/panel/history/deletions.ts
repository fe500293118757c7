import { deleteSession } from "../../client/api.js";
import type { ChatClientOptions } from "../../client/options.js";
import type { Session } from "../../client/wire.js";
import type { Translator } from "../../dom/translator.js";
import { titleOf } from "./session-row.js";
import { UndoStrip } from "./strips.js";

/** What deletions need, and whom they tell. */
export interface DeletionsOptions {
  readonly translator: Translator;
  readonly client: () => ChatClientOptions;
  /** Where the strips stand. */
  readonly strips: HTMLElement;
  /** The visitor wants the conversation back. */
  readonly undone: (session: Session) => void;
  /** It can no longer be undone; the strip had the focus or not. */
  readonly committed: (session: Session, hadFocus: boolean) => void;
  /** The server did not delete it. */
  readonly failed: (session: Session) => void;
}

interface PendingDeletion {
  readonly session: Session;
  readonly strip: UndoStrip;
  /** As whom, and where, it was deleted: that may be another by the time the server is told. */
  readonly client: ChatClientOptions;
}

/** Conversations that the visitor has deleted: for a while they can be undone, only then the server is told. */
export class Deletions {
  readonly #options: DeletionsOptions;
  readonly #pending = new Map<string, PendingDeletion>();
  /** Those the server was told of; lists that were on their way may still have them. */
  readonly #sent = new Set<string>();
  /** Until everything is forgotten. */
  #life = {};

  constructor(options: DeletionsOptions) {
    this.#options = options;
  }

  /** Whether a conversation is deleted, as far as the visitor is concerned. */
  has(sessionId: string): boolean {
    return this.#pending.has(sessionId) || this.#sent.has(sessionId);
  }

  /** Deletes a conversation, unless it is undone in time; gives the strip that does so. */
  add(session: Session): UndoStrip {
    const { translator, client, strips, undone } = this.#options;
    const strip = new UndoStrip(translator, titleOf(session, translator), {
      undo: () => {
        this.#take(session.id);
        undone(session);
      },
      elapsed: () => this.#commit(session.id),
    });
    const options = client();
    // A page that is being left has no time to ask for a token.
    const token = options.tokenProvider().catch(() => null);
    this.#pending.set(session.id, { session, strip, client: { ...options, tokenProvider: () => token } });
    strips.append(strip.root);
    addEventListener("pagehide", this.#leave);
    return strip;
  }

  /** Tells the server of everything that waits. */
  commit(): void {
    for (const id of [...this.#pending.keys()]) this.#commit(id);
  }

  /** Forgets everything. What the visitor was told is deleted, is. */
  clear(): void {
    this.commit();
    this.#life = {};
    this.#sent.clear();
  }

  /** Forgets what waits: it is gone already. */
  discard(): void {
    for (const id of [...this.#pending.keys()]) this.#take(id);
    this.#life = {};
    this.#sent.clear();
  }

  readonly #leave = (): void => this.commit();

  #commit(id: string): void {
    const hadFocus = this.#pending.get(id)?.strip.hasFocus ?? false;
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
      // Nobody is there any more who could be told.
      if (life !== this.#life) return;
      this.#sent.delete(session.id);
      this.#options.failed(session);
    }
  }

  /** Takes a deletion out of those that wait. */
  #take(id: string): PendingDeletion | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.strip.remove();
    if (this.#pending.size === 0) removeEventListener("pagehide", this.#leave);
    return pending;
  }
}

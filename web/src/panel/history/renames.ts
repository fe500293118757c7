import { renameSession } from "../../client/api.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Session } from "../../client/wire.js";

/** Dependencies and callbacks of renames. */
export interface RenamesOptions {
  readonly client: () => ChatClientOptions;
  /** Shows a conversation with its new or restored title. */
  readonly show: (session: Session) => void;
  /** The server rejected the title. */
  readonly failed: () => void;
}

interface Rename {
  confirmed: Session;
  wanted: string;
}

/** New titles. They are shown at once, and reverted if the server rejects them. */
export class Renames {
  readonly #options: RenamesOptions;
  readonly #running = new Map<string, Rename>();
  #life = new AbortController();

  constructor(options: RenamesOptions) {
    this.#options = options;
  }

  /** Renames a conversation. Each conversation has one request at a time, so the last title wins. */
  rename(session: Session, title: string): void {
    this.#options.show({ ...session, title });
    const running = this.#running.get(session.id);
    if (running) running.wanted = title;
    else void this.#save({ confirmed: session, wanted: title });
  }

  /** A conversation from a list of the server, with its pending title. */
  applyTo(session: Session): Session {
    const running = this.#running.get(session.id);
    return running ? { ...session, title: running.wanted } : session;
  }

  /** Forgets everything and aborts requests. */
  clear(): void {
    this.#life.abort();
    this.#life = new AbortController();
    this.#running.clear();
  }

  async #save(rename: Rename): Promise<void> {
    const { client, show, failed } = this.#options;
    const { signal } = this.#life;
    const { id } = rename.confirmed;
    this.#running.set(id, rename);
    let sent: string;
    let isSaved: boolean;
    do {
      sent = rename.wanted;
      try {
        rename.confirmed = await renameSession(id, sent, client(), signal);
        isSaved = true;
      } catch {
        isSaved = false;
      }
      if (signal.aborted) return;
    } while (rename.wanted !== sent);
    this.#running.delete(id);
    show(rename.confirmed);
    if (!isSaved) failed();
  }
}

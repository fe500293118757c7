import { renameSession } from "../../client/api.js";
import type { ChatClientOptions } from "../../client/options.js";
import type { Session } from "../../client/wire.js";

/** What renames need, and whom they tell. */
export interface RenamesOptions {
  readonly client: () => ChatClientOptions;
  /** Shows a conversation with the title that it has from now on, on the screen at least. */
  readonly show: (session: Session) => void;
  /** The server kept the old title. */
  readonly failed: () => void;
}

interface Rename {
  confirmed: Session;
  wanted: string;
}

/** New titles, which are shown at once and taken back if the server does not accept them. */
export class Renames {
  readonly #options: RenamesOptions;
  readonly #running = new Map<string, Rename>();
  #life = new AbortController();

  constructor(options: RenamesOptions) {
    this.#options = options;
  }

  /** Gives a conversation a new title. One request runs at a time for each, so that the last title wins. */
  rename(session: Session, title: string): void {
    this.#options.show({ ...session, title });
    const running = this.#running.get(session.id);
    if (running) running.wanted = title;
    else void this.#save({ confirmed: session, wanted: title });
  }

  /** The conversation as a list of the server's has it, with the title that is on its way there. */
  applyTo(session: Session): Session {
    const running = this.#running.get(session.id);
    return running ? { ...session, title: running.wanted } : session;
  }

  /** Forgets everything, and ends what is running. */
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

import type { ChatEvent } from "./wire.js";

/** Finds out from the events of answers which session the next question belongs to. */
export class SessionTracker {
  #id: string | undefined;
  #announced: string | undefined;
  #isUnconfirmed = false;

  /** The session of the next question; `undefined` starts a new one. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Whether the session of the next question may not exist, because the server did not confirm that it stored its first answer. */
  get isUnconfirmed(): boolean {
    return this.#isUnconfirmed;
  }

  /** Handles the next event of an answer. */
  observe(event: ChatEvent): void {
    if (event.type === "answer_start") this.#announced = event.session_id;
    if (event.type === "answer_end") {
      if (event.persisted) this.#take(this.#announced);
      else this.interrupted();
    }
    if (event.type === "refusal" && event.persisted) this.#take(event.session_id);
  }

  /** The answer failed, was stopped, or may not be stored. The server usually stores it all the same. */
  interrupted(): void {
    if (this.#id !== undefined || this.#announced === undefined) return;
    this.#id = this.#announced;
    this.#isUnconfirmed = true;
  }

  /** Continues a session of the history with the next question. */
  resume(id: string): void {
    this.reset();
    this.#id = id;
  }

  /** Forgets the session. */
  reset(): void {
    this.#id = undefined;
    this.#announced = undefined;
    this.#isUnconfirmed = false;
  }

  #take(id: string | undefined): void {
    this.#id = id ?? this.#id;
    this.#isUnconfirmed = false;
  }
}

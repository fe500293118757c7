import type { ChatEvent } from "./wire.js";

/**
 * Follows the events of answers to know the session that the next question belongs to. A session that the server
 * could not store does not exist for the next question, so its id is not taken over.
 */
export class SessionTracker {
  #id: string | undefined;
  #announced: string | undefined;
  #isUnsure = false;

  /** The session of the next question; `undefined` starts a new one. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Whether nobody knows if the session of the next question exists. */
  get isUnsure(): boolean {
    return this.#isUnsure;
  }

  /** Takes the next event of an answer. */
  observe(event: ChatEvent): void {
    if (event.type === "answer_start") this.#announced = event.session_id;
    if (event.type === "answer_end" && event.persisted) this.#take(this.#announced);
    if (event.type === "refusal" && event.persisted) this.#take(event.session_id);
  }

  /** The answer broke off, or was stopped. The server writes it down all the same, most likely. */
  interrupted(): void {
    if (this.#id !== undefined || this.#announced === undefined) return;
    this.#id = this.#announced;
    this.#isUnsure = true;
  }

  /** The next question goes on with a session of the history. */
  resume(id: string): void {
    this.reset();
    this.#id = id;
  }

  /** Forgets the session. */
  reset(): void {
    this.#id = undefined;
    this.#announced = undefined;
    this.#isUnsure = false;
  }

  #take(id: string | undefined): void {
    this.#id = id ?? this.#id;
    this.#isUnsure = false;
  }
}

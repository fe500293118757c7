import type { ChatEvent } from "./wire.js";

/**
 * Follows the events of answers to know the session that the next question belongs to. A session that the server
 * could not store does not exist for the next question, so its id is not taken over.
 */
export class SessionTracker {
  #id: string | undefined;
  #announced: string | undefined;

  /** The session of the next question; `undefined` starts a new one. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Takes the next event of an answer. */
  observe(event: ChatEvent): void {
    if (event.type === "answer_start") this.#announced = event.session_id;
    if (event.type === "answer_end" && event.persisted) this.#id = this.#announced ?? this.#id;
    if (event.type === "refusal" && event.persisted) this.#id = event.session_id ?? this.#id;
  }

  /** The next question goes on with a session of the history. */
  resume(id: string): void {
    this.#id = id;
    this.#announced = undefined;
  }

  /** Forgets the session. */
  reset(): void {
    this.#id = undefined;
    this.#announced = undefined;
  }
}

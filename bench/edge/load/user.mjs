// A simulated user: asks questions, some with a reading or a forged one, repeats some, drops some connections, and records every
// attempt.
import { setTimeout as sleep } from "node:timers/promises";
import { connections } from "../lib/client.mjs";
import { chatBody } from "../lib/questions.mjs";
import { hostile } from "../lib/readings.mjs";
import { send } from "./attempt.mjs";

/** Questions of one session, before a new one starts. */
const QUESTIONS_PER_SESSION = 5;
/** Of this many questions, one is sent twice concurrently, one is repeated later, and some users drop the connection of one. */
const CYCLE = 10;
const [CONCURRENT, REPEATED, DROPPED] = [2, 5, 8];
/** One in this many users drops connections. Refusals of the others can be counted exactly. */
const USERS_PER_DROPPER = 2;
const MAX_DROP_DELAY_MS = 60;
const REPEAT_DELAY_MS = 1000;
/** The maximum time a user waits after a refusal that says how long to wait. */
const MAX_WAIT_MS = 3000;
/** Maximum attempts at a question that gets no response. */
const MAX_TRIES = 3;

/** @typedef {import("./attempt.mjs").Asked} Asked */

export class User {
  /** @type {Asked[]} */
  asked = [];
  /** Pairs of attempts that must have the same response. */
  repeats = [];
  #url;
  #index;
  #token;
  #questions;
  #readings;
  #agent = connections(2);
  #session;

  constructor({ url, index, id, token, questions, readings }) {
    this.id = id;
    this.#url = url;
    this.#index = index;
    this.#token = token;
    this.#questions = questions;
    this.#readings = readings;
  }

  /** Asks questions until `endAt`. */
  async run({ startAt, endAt, intervalMs }) {
    for (let next = startAt; next < endAt; next += intervalMs) {
      await sleep(Math.max(0, next - performance.now()));
      // A user who is behind schedule does not catch up: the load is a closed loop.
      next = Math.max(next, performance.now());
      if (next >= endAt) break;
      const retryAfterMs = await this.#askNext();
      if (retryAfterMs) next = Math.max(next, performance.now() + Math.min(retryAfterMs, MAX_WAIT_MS) - intervalMs);
    }
    this.#agent.destroy();
  }

  /** Returns how long the limit asks the user to wait, if it does. */
  async #askNext() {
    const number = this.asked.length;
    const at = (this.#index * 7 + number) % this.#questions.length;
    if (number % QUESTIONS_PER_SESSION === 0) this.#session = undefined;
    const body = chatBody(this.#questions[at], { session_id: this.#session, reading: this.#reading(at, number) });
    const asked = { id: body.message_id, attempts: [] };
    this.asked.push(asked);

    const last = await this.#sendInMode((number + this.#index) % CYCLE, body, asked);
    this.#session = last.session ?? this.#session;
    return last.status === 429 ? last.retryAfterMs : 0;
  }

  /** Of three questions, one comes without a reading, one with its own and one with a forged one. */
  #reading(at, number) {
    const kind = (number + this.#index) % 3;
    if (kind === 0) return undefined;
    return kind === 1 ? this.#readings[at] : hostile(this.#readings[at], number);
  }

  async #sendInMode(mode, body, asked) {
    const send = () => this.#send(body, asked);
    if (mode === CONCURRENT) {
      const pair = await Promise.all([send(), send()]);
      this.repeats.push(pair);
      return pair[0];
    }
    if (mode === DROPPED && this.#index % USERS_PER_DROPPER === 0) {
      const dropAfter = (this.asked.length * 13 + this.#index * 7) % MAX_DROP_DELAY_MS;
      await this.#send(body, asked, AbortSignal.timeout(dropAfter));
    }
    let attempt = await send();
    for (let tries = 1; !attempt.status && tries < MAX_TRIES; tries++) attempt = await send();
    if (mode === REPEATED && attempt.outcome) {
      await sleep(REPEAT_DELAY_MS);
      this.repeats.push([attempt, await send()]);
    }
    return attempt;
  }

  #send(body, asked, signal) {
    return send(asked, { url: this.#url, agent: this.#agent, token: this.#token, body, signal });
  }
}

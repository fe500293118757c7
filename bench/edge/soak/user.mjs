// A user of the soak: asks until the end, sends again until there is an outcome, and does what clients on bad networks do.
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { connections } from "../lib/client.mjs";
import { chatBody } from "../lib/questions.mjs";
import { send } from "../load/attempt.mjs";

/** What a user does with a question. Chances in percent. */
const HABITS = {
  once: 50,
  /** Sends it twice at the same time. */
  twice: 15,
  /** Leaves before the answer, and sends it again. */
  leaves: 15,
  /** The upload breaks off, and is repeated. */
  "half an upload": 5,
  /** Sends it again after the answer. */
  again: 15,
};
/** The most questions of one session. */
const QUESTIONS_PER_SESSION = 5;
const MAX_PAUSE_MS = 4000;
const MAX_STAY_MS = 400;
/** How long a user waits before the next attempt; at most this, even if the limit says longer. */
const [RETRY_MS, MAX_RETRY_MS] = [200, 3000];

/** @typedef {import("../load/attempt.mjs").Asked & { text: string }} Asked */

export class SoakUser {
  /** @type {Asked[]} */
  asked = [];
  /** Pairs of attempts that must have the same response. */
  repeats = [];
  #options;
  #random;
  #session;
  #inSession = 0;

  constructor({ url, id, token, questions, random }) {
    this.id = id;
    this.#options = { url, token, agent: connections(2) };
    this.#random = random;
    this.questions = questions;
  }

  /** Asks questions until `endAt`. */
  async run(endAt) {
    while (performance.now() < endAt) {
      await sleep(this.#random.between(0, MAX_PAUSE_MS));
      await this.#ask(endAt);
    }
  }

  /** Sends the questions that have no outcome yet until they have one. */
  async settle(endAt) {
    for (const asked of this.asked) await this.#sendUntilOutcome(asked, endAt);
  }

  /** Sends the last questions once more; each must have the same outcome again. */
  async repeatLast(count) {
    for (const asked of this.asked.slice(-count)) {
      const first = asked.attempts.find(({ outcome }) => outcome);
      if (first) this.repeats.push([first, await this.#send(asked)]);
    }
  }

  close() {
    this.#options.agent.destroy();
  }

  async #ask(endAt) {
    const question = this.questions[Math.floor(this.#random.between(0, this.questions.length))];
    if (this.#inSession++ % QUESTIONS_PER_SESSION === 0) this.#session = undefined;
    const body = chatBody(question, this.#session && { session_id: this.#session });
    const asked = { id: body.message_id, text: question.text, body, attempts: [] };
    this.asked.push(asked);

    const habit = this.#random.pick(HABITS);
    if (habit === "twice") this.repeats.push(await Promise.all([this.#send(asked), this.#send(asked)]));
    if (habit === "leaves")
      await this.#send(asked, AbortSignal.timeout(Math.floor(this.#random.between(0, MAX_STAY_MS))));
    if (habit === "half an upload") await this.#sendHalf(body);
    const first = await this.#sendUntilOutcome(asked, endAt);
    if (habit === "again" && first) this.repeats.push([first, await this.#send(asked)]);
    this.#session = first?.session ?? this.#session;
  }

  /** Returns the first attempt with an outcome; `undefined` if there was none in time. */
  async #sendUntilOutcome(asked, endAt) {
    for (;;) {
      const first = asked.attempts.find(({ outcome }) => outcome);
      if (first || performance.now() >= endAt) return first;
      const { outcome, retryAfterMs = 0 } = await this.#send(asked);
      if (!outcome) await sleep(Math.min(Math.max(RETRY_MS, retryAfterMs), MAX_RETRY_MS));
    }
  }

  #send(asked, signal) {
    return send(asked, { ...this.#options, body: asked.body, signal });
  }

  /** Not an attempt: the Worker cannot know the question. */
  #sendHalf(body) {
    const { url, token, agent } = this.#options;
    const payload = Buffer.from(JSON.stringify(body));
    const headers = {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      "content-length": payload.length,
    };
    return new Promise((resolve) => {
      const outgoing = request(url, { agent, method: "POST", headers });
      outgoing.once("close", resolve).once("error", () => undefined);
      outgoing.write(payload.subarray(0, payload.length / 2), () => outgoing.destroy());
    });
  }
}

import { percentiles, round } from "../lib/statistics.mjs";
import { earlyRefusals, excessAdmissions } from "./limit.mjs";

/** @typedef {import("./attempt.mjs").Attempt} Attempt */

/**
 * The figures of all users together.
 * @param {object} load
 * @param {import("./user.mjs").User[]} load.users
 * @param {number} load.limit
 * @param {number} load.elapsedS
 * @param {{ first: number, last: number, samples: number[] }} load.memory
 * @param {{ lost: number, doubled: number, unasked: number }} load.history
 */
export function summarize({ users, limit, elapsedS, memory, history }) {
  const attempts = users.flatMap(({ asked }) => asked.flatMap((question) => question.attempts));
  const ended = attempts.filter(({ outcome }) => outcome);
  const refused = users.filter(({ asked }) => asked.some(({ attempts }) => attempts.some(isRefused)));
  const repeats = users.flatMap((user) => user.repeats);
  const answers = total(users, countAnswers);
  return {
    figures: [
      ["errors_5xx", attempts.filter(({ status }) => status !== undefined && status >= 500).length],
      ["errors_stream", attempts.filter(isIncomplete).length],
      ["errors_other", attempts.filter(isUnexpected).length],
      ["limit_violations", total(users, ({ asked }) => excessAdmissions(asked, limit))],
      ["refused_too_early", total(users, ({ asked }) => earlyRefusals(asked, limit))],
      ["lost_messages", history.lost],
      ["doubled_messages", history.doubled],
      ["unasked_messages", history.unasked],
      ["unpersisted_answers", ended.filter(({ outcome }) => outcome.persisted === false).length],
      ["repeats_different", repeats.filter(isDifferent).length],
      ["load_memory_first_quarter_mib", memory.first],
      ["load_memory_last_quarter_mib", memory.last],
      ["load_requests_per_second", round(attempts.length / elapsedS)],
      ["load_answers_per_second", round(answers / elapsedS)],
      ...percentiles("load_first_byte", ended.map(timeTo("endAt")), [50, 95, 99, 100]),
      ...percentiles("load_last_byte", ended.map(timeTo("lastByteAt")), [50, 95, 99, 100]),
    ],
    context: {
      load_answers: answers,
      load_answers_by_writer: count(ended.map(({ outcome }) => writer(outcome))),
      load_answers_of_each_user: range(users.map(countAnswers)),
      load_answers_of_each_refused_user: range(refused.map(countAnswers)),
      load_users_refused: refused.length,
      load_repeats: repeats.length,
      load_connections_dropped: attempts.filter(({ dropped }) => dropped).length,
      load_statuses: count(attempts.map(({ status }) => status ?? "none")),
      load_failures: count(attempts.filter(({ error, dropped }) => error && !dropped).map(({ error }) => error)),
      load_memory_mib_by_second: memory.samples,
    },
  };
}

function isRefused(/** @type {Attempt} */ { status }) {
  return status === 429;
}

/** A stream that ended in an error or not at all. */
function isIncomplete(/** @type {Attempt} */ { status, outcome }) {
  return status === 200 && !outcome;
}

/** Neither an answer, nor a refusal by the limit, nor a connection dropped on purpose. */
function isUnexpected(/** @type {Attempt} */ { status, dropped }) {
  return status === undefined ? !dropped : status !== 200 && status !== 429 && status < 500;
}

/** A failed question has no outcome to repeat; failures are counted separately. */
function isDifferent(pair) {
  const [first, second] = pair;
  if (pair.some(({ status }) => status === undefined || status >= 500)) return false;
  return first.status !== second.status || first.text !== second.text;
}

/** Who wrote an answer. */
function writer({ type, generation }) {
  if (type === "refusal") return "refusal";
  if (!generation) return "extractive";
  return generation.fallback ? `fallback after ${generation.fallback}` : "model";
}

/** Distinct questions that were answered or refused for lack of evidence. */
function countAnswers({ asked }) {
  return asked.filter(({ attempts }) => attempts.some(({ outcome }) => outcome)).length;
}

function timeTo(moment) {
  return (attempt) => attempt[moment] - attempt.sentAt;
}

function total(users, value) {
  return users.reduce((sum, user) => sum + value(user), 0);
}

function range(numbers) {
  return numbers.length ? `${Math.min(...numbers)} to ${Math.max(...numbers)}` : "none";
}

/** How often each value occurs. */
function count(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, number]) => `${value}: ${number}`).join(", ");
}

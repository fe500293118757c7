// What a soak must not have: counted in the responses and in the database.
import { compareHistory } from "../load/history.mjs";
import { excessAdmissions } from "../load/limit.mjs";

/**
 * @param {object} soak
 * @param {import("./user.mjs").SoakUser[]} soak.users
 * @param {Map<string, string>} soak.expected by the text of a question: `comparable` of its events
 * @param {{ from: number, to: number }[]} soak.restarts
 * @param {number} soak.limit
 * @param {{ sessions: any[], messages: any[] }} soak.database
 */
export function judge({ users, expected, restarts, limit, database }) {
  const asked = users.flatMap((user) => user.asked);
  const attempts = asked.flatMap((question) => question.attempts);
  const wasRestarted = ({ sentAt, endAt }) => restarts.some(({ from, to }) => sentAt <= to && endAt >= from);
  const ends = attempts.map((attempt) => endOf(attempt, wasRestarted(attempt)));
  const foreign = asked.flatMap(({ text, attempts }) =>
    attempts.filter((attempt) => attempt.outcome && comparable(attempt.text) !== expected.get(text)),
  );
  const { lost, doubled, unasked } = compareHistory(users, database);
  const repeats = users.flatMap((user) => user.repeats).filter((pair) => pair.every(({ outcome }) => outcome));
  return {
    figures: [
      ["soak_questions", asked.length],
      ["soak_unanswered", asked.filter(({ attempts }) => !attempts.some(({ outcome }) => outcome)).length],
      ["soak_without_one_end", ends.filter((end) => end === "no end").length],
      ["soak_errors_other", ends.filter((end) => end === "unexpected").length],
      ["soak_lost", lost],
      ["soak_doubled", doubled],
      ["soak_unasked", unasked],
      ["soak_wrong_text", foreign.length + wrongRows(users, database.messages)],
      ["soak_limit_violations", users.reduce((sum, { asked }) => sum + excessAdmissions(asked, limit), 0)],
      ["soak_repeats_different", repeats.filter(([first, second]) => first.text !== second.text).length],
    ],
    context: {
      soak_attempts: attempts.length,
      soak_repeats: repeats.length,
      soak_ends: count(ends),
      soak_unpersisted: attempts.filter(({ outcome }) => outcome?.persisted === false).length,
      soak_messages: database.messages.length,
    },
  };
}

/** The events of a stream without what differs between two askers of one question. */
export function comparable(text) {
  return JSON.stringify(JSON.parse(text).map(({ session_id, message_id, persisted, ...event }) => event));
}

/** How an attempt ended. A connection may only break when the user leaves or the Worker is restarted. */
function endOf(/** @type {import("../load/attempt.mjs").Attempt} */ { status, dropped, ends, outcome }, wasRestarted) {
  if (dropped) return "left";
  if (status === 200 && ends === 1) return outcome ? outcome.type : "error event";
  if (status === undefined || status === 200) return wasRestarted ? "restart" : "no end";
  if (status === 429 || status >= 500) return String(status);
  return "unexpected";
}

/** The questions in the database that have another text than the user sent with their id. */
function wrongRows(users, messages) {
  const texts = new Map(users.flatMap(({ asked }) => asked.map(({ id, text }) => [id, text])));
  const questions = messages.filter(({ id, role }) => role === "user" && texts.has(id));
  return questions.filter(({ id, content }) => texts.get(id) !== content).length;
}

function count(values) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

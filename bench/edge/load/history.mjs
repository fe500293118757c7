// Compares the database at the end with the responses that users received.

/**
 * @param {{ id: string, asked: import("./attempt.mjs").Asked[] }[]} users
 * @param {{ sessions: { id: string, user_id: string }[], messages: { id: string, session_id: string, role: string }[] }} database
 */
export function compareHistory(users, { sessions, messages }) {
  const owner = new Map(sessions.map(({ id, user_id }) => [id, user_id]));
  const rows = { user: countByOwner(messages, "user", owner), assistant: countByOwner(messages, "assistant", owner) };
  let lost = 0;
  let doubled = 0;
  let unasked = 0;
  for (const { id: user, asked } of users) {
    const questions = rows.user.get(user) ?? new Map();
    const answers = rows.assistant.get(user) ?? new Map();
    for (const question of asked) {
      const outcome = question.attempts.find((attempt) => attempt.outcome?.persisted)?.outcome;
      if (!outcome) continue;
      lost += questions.has(question.id) ? 0 : 1;
      // A refusal has no message id; the count below shows whether its message exists.
      if (outcome.type === "answer_end") lost += answers.has(outcome.message_id) ? 0 : 1;
    }
    const known = new Set(asked.map(({ id }) => id));
    unasked += [...questions.keys()].filter((id) => !known.has(id)).length;
    const written = sum(questions.values());
    doubled += written - questions.size;
    // Exactly one answer for each question that was written.
    const surplus = sum(answers.values()) - written;
    doubled += Math.max(0, surplus);
    lost += Math.max(0, -surplus);
  }
  return { lost, doubled, unasked };
}

/** How often each message id occurs, by user. */
function countByOwner(messages, role, owner) {
  const byOwner = new Map();
  for (const message of messages.filter((message) => message.role === role)) {
    const user = owner.get(message.session_id);
    const counts = byOwner.get(user) ?? new Map();
    byOwner.set(user, counts.set(message.id, (counts.get(message.id) ?? 0) + 1));
  }
  return byOwner;
}

function sum(numbers) {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

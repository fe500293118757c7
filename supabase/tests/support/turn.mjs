import { randomUUID } from "node:crypto";

/** Records the turn that its parameter describes. */
export const RECORD_TURN = "select chat_record_turn($1)";

/**
 * A first turn of a new session, as the parameter of {@link RECORD_TURN}.
 * @param {Record<string, any>} [changes]
 */
export function newTurn(changes) {
  return JSON.stringify({
    session_id: randomUUID(),
    title: "Title",
    question_id: randomUUID(),
    question: "Q?",
    answer_id: randomUUID(),
    answer: "A.",
    ...changes,
  });
}

// The history of a visitor with three conversations.
import { citation, SESSION } from "../../support/answers.mjs";
import { QUESTION } from "./suite.mjs";

/** Opens the list of conversations. */
export async function openHistory(widget) {
  await widget.role("input").focus();
  await widget.role("history-open").click();
}

/** Adds three conversations, each with an answer whose source is gone, to the simulated API. */
export function fillHistory(api) {
  const at = "2026-11-01T10:00:00Z";
  api.sessions = ["Refunds?", "Delivery?", "Gift cards?"].map((title, index) => ({
    id: SESSION.replace(/.$/, String(index)),
    title,
    created_at: at,
    updated_at: at,
  }));
  const message = (id, role, content, citations = []) => ({ id, role, content, citations, created_at: at });
  for (const { id } of api.sessions) {
    api.messages.set(id, [
      message(SESSION.replace(/.$/, "a"), "user", QUESTION),
      message(SESSION.replace(/.$/, "b"), "assistant", "Refunds are paid within 5 days. [1]", [
        { ...citation(), available: false },
      ]),
    ]);
  }
}

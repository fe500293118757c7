/**
 * Whose question is running. A page may report a new user only with the first token after a question, so the user who
 * asks is unknown until that token arrives. If it belongs to another user, so does the question: everything else on the
 * screen is cleared and the question is asked again.
 *
 *     asked → unknown ── token ──→ known
 *                └─ userChanged ─→ changed, with the question to ask again
 *
 * A change after the token clears the question too.
 */
export interface AskerState {
  readonly status: "unknown" | "known" | "changed";
  /** Number of the latest question. A token that was requested before it does not tell who asks it. */
  readonly turn: number;
  /** The running question, unless it is a retry; in `changed`, the question to ask again. */
  readonly question: string | undefined;
}

/** What happens to the question of the moment. */
export type AskerEvent =
  /** The visitor asks; an open request for the history may delay the start. */
  | { readonly type: "asked" }
  | { readonly type: "started"; readonly question: string }
  /** A token arrived that was requested in `turn`. */
  | { readonly type: "token"; readonly turn: number }
  /** The question was answered, refused or stopped, it failed, or the conversation was left. */
  | { readonly type: "ended" }
  /** The page's token belongs to another user than the one before. */
  | { readonly type: "userChanged" };

/** Nobody has asked anything. */
export const INITIAL_ASKER: AskerState = { status: "known", turn: 0, question: undefined };

/** The state after an event. */
export function nextAsker(state: AskerState, event: AskerEvent): AskerState {
  switch (event.type) {
    case "asked":
      return { ...state, status: "unknown", turn: state.turn + 1 };
    case "started":
      return { ...state, question: event.question };
    case "token":
      return event.turn === state.turn ? { ...state, status: "known" } : state;
    case "ended":
      return { ...state, question: undefined };
    case "userChanged":
      return { ...state, status: "changed", question: state.status === "known" ? undefined : state.question };
  }
}

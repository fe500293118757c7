/**
 * Who asked this, who typed this, and whose conversation is it? A page may report a new user only with the first token after a question
 * or a draft was begun, so until that token arrives the user is unknown. If the token belongs to another user, so does the question: what
 * else is on the screen is cleared and the question is asked again.
 *
 *     asked → unknown ── token ──→ known
 *                └─ userChanged ─→ changed, with the question to ask again
 *
 * A change after the token clears the question too.
 */
export interface Ownership {
  readonly asker: "unknown" | "known" | "changed";
  /** Number of the latest question. A token that was requested before it does not tell who asks it. */
  readonly turn: number;
  /** The running question, unless it is a retry; in `changed`, the question to ask again. */
  readonly question: string | undefined;
  /**
   * Until then, in milliseconds, a new user may have begun the text in the question box. 0 for a text of the user before, such as one that
   * the widget suggests; `undefined` without a text.
   */
  readonly draftUntil: number | undefined;
}

/** After this time, a draft belongs to the previous user even if no token has arrived. */
export const DRAFT_TOKEN_MS = 5000;

/** Nobody has asked or typed anything. */
export const NOTHING: Ownership = { asker: "known", turn: 0, question: undefined, draftUntil: undefined };

/** The visitor asks; an open request for the history may delay the start. */
export function asked(state: Ownership): Ownership {
  return { ...state, asker: "unknown", turn: state.turn + 1 };
}

/** A token arrived that was requested in `turn`. */
export function tokenArrived(state: Ownership, turn: number): Ownership {
  return turn === state.turn ? { ...state, asker: "known" } : state;
}

/** The text in the question box is another one. `now` is in milliseconds, as everywhere here. */
export function textChanged(state: Ownership, text: string, isTyped: boolean, now: number): Ownership {
  if (text === "") return { ...state, draftUntil: undefined };
  if (state.draftUntil !== undefined) return state;
  return isTyped ? draftChecked(state, now) : { ...state, draftUntil: 0 };
}

/** A token is requested, to find out whose draft it is. */
export function draftChecked(state: Ownership, now: number): Ownership {
  return { ...state, draftUntil: now + DRAFT_TOKEN_MS };
}

/** The token arrived that was requested when the draft was one until `until`. */
export function draftTokenArrived(state: Ownership, until: number | undefined, now: number): Ownership {
  return state.draftUntil === until ? { ...state, draftUntil: now } : state;
}

/** Says what remains when the user changes. Everything that is not named here is cleared. */
export interface UserSwitch {
  /** Whether the new user has begun the text in the question box. */
  readonly keepsDraft: boolean;
  /** Whose is what is shown from now on; `undefined` if the next user to appear is no change. */
  readonly user: string | undefined;
  /** The question to ask again. */
  readonly question: string | undefined;
}

/** The page's token belongs to another user, `next`, than the one before; to nobody if it is `null`. */
export function userChanged(
  state: Ownership,
  previous: string,
  next: string | null,
  now: number,
): readonly [Ownership, UserSwitch] {
  const question = state.asker === "known" ? undefined : state.question;
  // Signing out, or the end of a session, does not make someone a new user.
  const keepsDraft = next !== null && now < (state.draftUntil ?? 0);
  // The user whose session has ended may have asked the question, so nobody else sees it.
  const user = next ?? (question === undefined ? undefined : previous);
  const draftUntil = keepsDraft ? 0 : state.draftUntil;
  return [
    { ...state, asker: "changed", question, draftUntil },
    { keepsDraft, user, question },
  ];
}

/**
 * Decides what is cleared if the page has ceased to say who is signed in. Where nobody was known, nobody has signed out: a page may find out late that
 * it has no user. But a question that waits for its token is not sent for a user who may have left, so it goes back into the box.
 */
export function lostBySignOut(
  { asker }: Ownership,
  user: string | undefined,
  isRunning: boolean,
): "all" | "question" | undefined {
  if (user) return "all";
  return isRunning && asker === "unknown" ? "question" : undefined;
}

/** The text that a tab remembers for its next page: the session of its conversation, and its user. */
export function memoryOf(sessionId: string | undefined, user: string | undefined): string {
  return sessionId ? `${sessionId} ${user}` : "";
}

/** The session in what a tab remembers. */
export function sessionIn(memory: string): string | undefined {
  return memory.split(" ", 1)[0] || undefined;
}

/** Whether the conversation that a tab remembers is the user's. */
export function isOwn(memory: string, user: string | undefined): boolean {
  return memory === memoryOf(sessionIn(memory), user);
}

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
   * Until then, in milliseconds, the text in the question box may have been begun by a new user. 0 for a text of the user before, such as
   * one that the widget suggests; `undefined` without a text.
   */
  readonly draftMayBeNewUntil: number | undefined;
}

/** What happens to the question and the draft of the moment. `now` is in milliseconds of one clock. */
export type OwnershipEvent =
  /** The visitor asks; an open request for the history may delay the start. */
  | { readonly type: "asked" }
  | { readonly type: "started"; readonly question: string }
  /** A token arrived that was requested in `turn`. */
  | { readonly type: "token"; readonly turn: number }
  /** The question was answered, refused or stopped, it failed, or the conversation was left. */
  | { readonly type: "ended" }
  /** The text in the question box is another one. */
  | { readonly type: "draft"; readonly text: string; readonly isTyped: boolean; readonly now: number }
  /** A token is requested, to find out whose draft it is. */
  | { readonly type: "draftChecked"; readonly now: number }
  /** The token arrived that was requested when the draft was one until `until`. */
  | { readonly type: "draftToken"; readonly until: number | undefined; readonly now: number }
  /** The page's token belongs to another user than the one before; `next` is `null` if to nobody. */
  | { readonly type: "userChanged"; readonly next: string | null; readonly now: number };

/** After this time, a draft belongs to the previous user even if no token has arrived. */
export const DRAFT_TOKEN_MS = 5000;

/** Nobody has asked or typed anything. */
export const NOTHING_OWNED: Ownership = {
  asker: "known",
  turn: 0,
  question: undefined,
  draftMayBeNewUntil: undefined,
};

/** The state after an event. */
export function nextOwnership(state: Ownership, event: OwnershipEvent): Ownership {
  const { draftMayBeNewUntil } = state;
  switch (event.type) {
    case "asked":
      return { ...state, asker: "unknown", turn: state.turn + 1 };
    case "started":
      return { ...state, question: event.question };
    case "token":
      return event.turn === state.turn ? { ...state, asker: "known" } : state;
    case "ended":
      return { ...state, question: undefined };
    case "draft":
      if (event.text === "") return { ...state, draftMayBeNewUntil: undefined };
      if (draftMayBeNewUntil !== undefined) return state;
      return { ...state, draftMayBeNewUntil: event.isTyped ? event.now + DRAFT_TOKEN_MS : 0 };
    case "draftChecked":
      return { ...state, draftMayBeNewUntil: event.now + DRAFT_TOKEN_MS };
    case "draftToken":
      return draftMayBeNewUntil === event.until ? { ...state, draftMayBeNewUntil: event.now } : state;
    case "userChanged": {
      const { keepsDraft, question } = userSwitch(state, "", event.next, event.now);
      return { ...state, asker: "changed", question, ...(keepsDraft && { draftMayBeNewUntil: 0 }) };
    }
  }
}

/** What becomes of what the visitor sees if the user changes. Everything that is not named here is cleared. */
export interface UserSwitch {
  /** Whether the new user has begun the text in the question box. */
  readonly keepsDraft: boolean;
  /** Whose is what is shown from now on; `undefined` if the next user to appear is no change. */
  readonly user: string | undefined;
  /** The question to ask again. */
  readonly question: string | undefined;
}

/** What becomes of what the visitor sees if `next` takes the place of `previous`; `null` is nobody. */
export function userSwitch(state: Ownership, previous: string, next: string | null, now: number): UserSwitch {
  const question = state.asker === "known" ? undefined : state.question;
  return {
    // Signing out, or the end of a session, does not make someone a new user.
    keepsDraft: next !== null && now < (state.draftMayBeNewUntil ?? 0),
    // The user whose session has ended may have asked the question, so nobody else sees it.
    user: next ?? (question === undefined ? undefined : previous),
    question,
  };
}

/** What to do if the page has begun, or ceased, to say who is signed in: `hasProvider`. */
export function signInStep(
  { asker, draftMayBeNewUntil }: Ownership,
  { hasProvider, isUserKnown, isRunning }: Readonly<Record<"hasProvider" | "isUserKnown" | "isRunning", boolean>>,
): "checkDraft" | "check" | "clear" | "giveBack" | "nothing" {
  // A page may find out late who is signed in, so what is typed by then is the user's.
  if (hasProvider) return draftMayBeNewUntil ? "checkDraft" : "check";
  if (isUserKnown) return "clear";
  // Where nobody was known, nobody has signed out: a page may find out late that it has no user. But a question that waits for its token
  // is not sent for a user who may have left.
  return isRunning && asker === "unknown" ? "giveBack" : "nothing";
}

/** What a tab remembers for its next page: the session of its conversation, and whose it is. */
export function memoryOf(sessionId: string | undefined, user: string | undefined): string {
  return sessionId ? `${sessionId} ${user}` : "";
}

/** The session in what a tab remembers. */
export function sessionIn(memory: string): string | undefined {
  return memory.split(" ", 1)[0] || undefined;
}

/** Whose conversation a tab remembers: that of `user`, of another user, or not yet known. */
export function ownerOf(memory: string, user: string | undefined): "user" | "other" | "unknown" {
  if (memory === memoryOf(sessionIn(memory), user)) return "user";
  return user ? "other" : "unknown";
}

// Whose are the question, the draft and the conversation when the user changes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { DRAFT_TOKEN_MS, memoryOf, nextOwnership, NOTHING_OWNED, ownerOf, sessionIn, signInStep, userSwitch } =
  await importTs(new URL("../src/panel/user-switch.ts", import.meta.url));

const NOW = 10_000;
const [ASKED, ENDED] = ["asked", "ended"].map((type) => ({ type }));
const CHANGED = { type: "userChanged", next: "other", now: NOW };
const STARTED = { type: "started", question: "new" };
const TOKEN = { type: "token", turn: 2 };
const OLD_TOKEN = { type: "token", turn: 1 };

/** @typedef {{ asker: string, turn: number, question: string | undefined, draftMayBeNewUntil: number | undefined }} State */

/** @returns {State} */
const state = (asker, question, turn = 2, draftMayBeNewUntil = undefined) => ({
  asker,
  turn,
  question,
  draftMayBeNewUntil,
});

/**
 * The next state for each state and event of a question.
 * @type {[before: State, ...transitions: [event: { type: string, turn?: number }, after: State][]][]}
 */
const TABLE = [
  [
    state("unknown", undefined),
    [ASKED, state("unknown", undefined, 3)],
    [STARTED, state("unknown", "new")],
    [TOKEN, state("known", undefined)],
    [OLD_TOKEN, state("unknown", undefined)],
    [ENDED, state("unknown", undefined)],
    [CHANGED, state("changed", undefined)],
  ],
  [
    state("unknown", "running"),
    [ASKED, state("unknown", "running", 3)],
    [STARTED, state("unknown", "new")],
    [TOKEN, state("known", "running")],
    [OLD_TOKEN, state("unknown", "running")],
    [ENDED, state("unknown", undefined)],
    [CHANGED, state("changed", "running")],
  ],
  [
    state("known", undefined),
    [ASKED, state("unknown", undefined, 3)],
    [STARTED, state("known", "new")],
    [TOKEN, state("known", undefined)],
    [OLD_TOKEN, state("known", undefined)],
    [ENDED, state("known", undefined)],
    [CHANGED, state("changed", undefined)],
  ],
  [
    state("known", "running"),
    [ASKED, state("unknown", "running", 3)],
    [STARTED, state("known", "new")],
    [TOKEN, state("known", "running")],
    [OLD_TOKEN, state("known", "running")],
    [ENDED, state("known", undefined)],
    [CHANGED, state("changed", undefined)],
  ],
  [
    state("changed", undefined),
    [ASKED, state("unknown", undefined, 3)],
    [STARTED, state("changed", "new")],
    [TOKEN, state("known", undefined)],
    [OLD_TOKEN, state("changed", undefined)],
    [ENDED, state("changed", undefined)],
    [CHANGED, state("changed", undefined)],
  ],
  [
    state("changed", "running"),
    [ASKED, state("unknown", "running", 3)],
    [STARTED, state("changed", "new")],
    [TOKEN, state("known", "running")],
    [OLD_TOKEN, state("changed", "running")],
    [ENDED, state("changed", undefined)],
    [CHANGED, state("changed", "running")],
  ],
];

const name = ({ asker, question }) => `${asker} ${question === undefined ? "without" : "with"} a question`;

for (const [before, ...transitions] of TABLE) {
  describe(`the asker ${name(before)}`, () => {
    for (const [event, after] of transitions) {
      const what = event.turn === 1 ? "token of an earlier question" : event.type;
      test(`the asker ${name(before)} becomes ${name(after)} on ${what}`, () => {
        assert.deepEqual(nextOwnership(before, event), after);
      });
    }
  });
}

const after = (...events) => events.reduce(nextOwnership, NOTHING_OWNED);

test("a question is asked again when the first token after it belongs to another user", () => {
  const changed = after(ASKED, { type: "started", question: "q" }, CHANGED);
  assert.deepEqual(changed, state("changed", "q", 1));
  const token = { type: "token", turn: 1 };
  assert.equal([ENDED, { type: "started", question: "q" }, token].reduce(nextOwnership, changed).asker, "known");
});

test("a question is not asked again when the user changes after its token arrived", () => {
  const events = [ASKED, { type: "started", question: "q" }, { type: "token", turn: 1 }, CHANGED];
  assert.equal(after(...events).question, undefined);
});

test("a retry is not asked again when the user changes", () => {
  assert.equal(after(ASKED, { type: "started", question: "q" }, ENDED, CHANGED).question, undefined);
});

/** A time at which a draft may be a new user's, for a draft of each kind. */
const DRAFTS = { none: undefined, "of the user before": 0, "that may be new": NOW + 1, "whose time is over": NOW };
const draft = (draftMayBeNewUntil) => state("known", undefined, 2, draftMayBeNewUntil);
const text = (text, isTyped) => ({ type: "draft", text, isTyped, now: NOW });
const UNTIL = NOW + DRAFT_TOKEN_MS;

/**
 * What each event makes of a draft of each kind, in the order of `DRAFTS`.
 * @type {Record<string, [event: object, after: (number | undefined)[]]>}
 */
const DRAFT_TABLE = {
  "text that is typed": [text("a", true), [UNTIL, 0, NOW + 1, NOW]],
  "text that the widget suggests": [text("a", false), [0, 0, NOW + 1, NOW]],
  "empty box": [text("", true), [undefined, undefined, undefined, undefined]],
  "sign-in of the page": [{ type: "draftChecked", now: NOW }, [UNTIL, UNTIL, UNTIL, UNTIL]],
  "token for the draft": [{ type: "draftToken", until: NOW + 1, now: NOW - 5 }, [undefined, 0, NOW - 5, NOW]],
  "change of user": [CHANGED, [undefined, 0, 0, NOW]],
  "sign-out": [{ ...CHANGED, next: null }, [undefined, 0, NOW + 1, NOW]],
};

for (const [what, [event, results]] of Object.entries(DRAFT_TABLE))
  for (const [index, [kind, until]] of Object.entries(DRAFTS).entries())
    test(`a draft ${kind} gets the right owner on: ${what}`, () => {
      assert.equal(nextOwnership(draft(until), event).draftMayBeNewUntil, results[index]);
    });

test("another user keeps a draft only until the token after its beginning, or the time for it", () => {
  const keeps = (until, next = "b", now = NOW) => userSwitch(draft(until), "a", next, now).keepsDraft;
  const until = after(text("a", true)).draftMayBeNewUntil;
  assert.equal(keeps(until, "b", until - 1), true);
  assert.equal(keeps(until, "b", until), false);
  assert.equal(keeps(until, null), false, "signing out makes nobody a new user");
  for (const other of [undefined, 0, NOW]) assert.equal(keeps(other), false);
  const told = nextOwnership(draft(until), { type: "draftToken", until, now: NOW });
  assert.equal(userSwitch(told, "a", "b", NOW).keepsDraft, false, "the draft is the user's before");
});

/** @type {Record<string, [before: State, next: string | null, after: { user?: string, question?: string }]>} */
const SWITCHES = {
  "a user signs out": [state("known", undefined), null, {}],
  "a user signs out while a question runs that is known to be theirs": [state("known", "q"), null, {}],
  "a session ends while a question waits for its token": [state("unknown", "q"), null, { user: "a", question: "q" }],
  "another user signs in": [state("known", undefined), "b", { user: "b" }],
  "another user signs in while a question of the user before runs": [state("known", "q"), "b", { user: "b" }],
  "another user asks": [state("unknown", "q"), "b", { user: "b", question: "q" }],
  "a third user signs in before the question is asked again": [
    state("changed", "q"),
    "c",
    { user: "c", question: "q" },
  ],
};

for (const [what, [before, next, { user, question }]] of Object.entries(SWITCHES))
  test(`what is shown, and the question to ask again, are of the right user if ${what}`, () => {
    const change = userSwitch(before, "a", next, NOW);
    assert.deepEqual(change, { keepsDraft: false, user, question });
    assert.deepEqual(nextOwnership(before, { ...CHANGED, next }).question, question);
  });

const UNKNOWN = { hasProvider: false, isUserKnown: false, isRunning: false };
/** @type {Record<string, [before: State, page: typeof UNKNOWN, step: string]>} */
const SIGN_INS = {
  "a page signs in and nothing is typed": [draft(undefined), { ...UNKNOWN, hasProvider: true }, "check"],
  "a page signs in and a text is suggested": [draft(0), { ...UNKNOWN, hasProvider: true }, "check"],
  "a page signs in late, after the visitor typed": [draft(NOW), { ...UNKNOWN, hasProvider: true }, "checkDraft"],
  "a page signs its user out": [draft(NOW), { ...UNKNOWN, isUserKnown: true }, "clear"],
  "a page signs its user out while a question runs": [
    state("unknown", "q"),
    { ...UNKNOWN, isUserKnown: true, isRunning: true },
    "clear",
  ],
  "a page has no user while a question waits for its token": [
    state("unknown", "q"),
    { ...UNKNOWN, isRunning: true },
    "giveBack",
  ],
  "a page has no user while an anonymous question runs": [
    state("known", "q"),
    { ...UNKNOWN, isRunning: true },
    "nothing",
  ],
  "a page has no user and nothing runs": [state("unknown", undefined), UNKNOWN, "nothing"],
};

for (const [what, [before, page, step]] of Object.entries(SIGN_INS))
  test(`the right step follows if ${what}`, () => assert.equal(signInStep(before, page), step));

test("a tab remembers a session with its user, and nothing without a session", () => {
  assert.equal(memoryOf(undefined, "a"), "");
  assert.equal(sessionIn(memoryOf("s1", "a")), "s1");
  assert.equal(sessionIn(""), undefined);
});

test("a remembered conversation is opened only for its user, and one of another user is forgotten", () => {
  const owners = (user) => ["a", undefined].map((before) => ownerOf(memoryOf("s1", before), user));
  assert.deepEqual(owners("a"), ["user", "other"]);
  assert.deepEqual(owners("b"), ["other", "other"]);
  // Nobody is signed in yet: the user may still appear.
  assert.deepEqual(owners(undefined), ["unknown", "user"]);
});

// Whose are the question, the draft and the conversation when the user changes.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const owned = await importTs(new URL("../src/panel/user-switch.ts", import.meta.url));
const { DRAFT_TOKEN_MS, lostBySignOut, memoryOf, NOTHING, sessionIn } = owned;

const NOW = 10_000;

/** What happens, by name, and what becomes of the state. */
const EVENTS = {
  asked: owned.asked,
  started: (before) => ({ ...before, question: "new" }),
  token: (before) => owned.tokenArrived(before, 2),
  "token of an earlier question": (before) => owned.tokenArrived(before, 1),
  ended: (before) => ({ ...before, question: undefined }),
  userChanged: (before) => owned.userChanged(before, "user", "other", NOW)[0],
};
const [ASKED, STARTED, TOKEN, OLD_TOKEN, ENDED, CHANGED] = Object.keys(EVENTS);

/** @typedef {{ asker: string, turn: number, question: string | undefined, draftUntil: number | undefined }} State */

/** @returns {State} */
const state = (asker, question, turn = 2, draftUntil = undefined) => ({
  asker,
  turn,
  question,
  draftUntil,
});

/**
 * The next state for each state and event of a question.
 * @type {[before: State, ...transitions: [event: string, after: State][]][]}
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
      test(`the asker ${name(before)} becomes ${name(after)} on ${event}`, () => {
        assert.deepEqual(EVENTS[event](before), after);
      });
    }
  });
}

const after = (...events) => events.reduce((before, event) => EVENTS[event](before), { ...NOTHING, turn: 1 });

test("a question is asked again when the first token after it belongs to another user", () => {
  const changed = after(ASKED, STARTED, CHANGED);
  assert.deepEqual(changed, state("changed", "new"));
  assert.equal([ENDED, STARTED, TOKEN].reduce((before, event) => EVENTS[event](before), changed).asker, "known");
});

test("a question is not asked again when the user changes after its token arrived", () => {
  assert.equal(after(ASKED, STARTED, TOKEN, CHANGED).question, undefined);
});

test("a retry is not asked again when the user changes", () => {
  assert.equal(after(ASKED, STARTED, ENDED, CHANGED).question, undefined);
});

/** A time at which a draft may be a new user's, for a draft of each kind. */
const DRAFTS = { none: undefined, "of the user before": 0, "that may be new": NOW + 1, "whose time is over": NOW };
const draft = (draftUntil) => state("known", undefined, 2, draftUntil);
const UNTIL = NOW + DRAFT_TOKEN_MS;
const typed = (before) => owned.textChanged(before, "a", true, NOW);

/**
 * What becomes of a draft of each kind, in the order of `DRAFTS`.
 * @type {Record<string, [event: (before: State) => State, after: (number | undefined)[]]>}
 */
const DRAFT_TABLE = {
  "text that is typed": [typed, [UNTIL, 0, NOW + 1, NOW]],
  "text that the widget suggests": [(before) => owned.textChanged(before, "a", false, NOW), [0, 0, NOW + 1, NOW]],
  "empty box": [(before) => owned.textChanged(before, "", true, NOW), [undefined, undefined, undefined, undefined]],
  "sign-in of the page": [(before) => owned.draftChecked(before, NOW), [UNTIL, UNTIL, UNTIL, UNTIL]],
  "token for the draft": [(before) => owned.draftTokenArrived(before, NOW + 1, NOW - 5), [undefined, 0, NOW - 5, NOW]],
  "token refreshed for the same user": [(before) => owned.tokenArrived(before, 2), [undefined, 0, NOW + 1, NOW]],
  "change of user": [EVENTS.userChanged, [undefined, 0, 0, NOW]],
  "sign-out": [(before) => owned.userChanged(before, "a", null, NOW)[0], [undefined, 0, NOW + 1, NOW]],
};

for (const [what, [event, results]] of Object.entries(DRAFT_TABLE))
  for (const [index, [kind, until]] of Object.entries(DRAFTS).entries())
    test(`a draft ${kind} gets the right owner on: ${what}`, () => {
      assert.equal(event(draft(until)).draftUntil, results[index]);
    });

test("another user keeps a draft only until the token after its beginning, or the time for it", () => {
  const keeps = (until, next = "b", now = NOW) => owned.userChanged(draft(until), "a", next, now)[1].keepsDraft;
  const until = typed(NOTHING).draftUntil;
  assert.equal(keeps(until, "b", until - 1), true);
  assert.equal(keeps(until, "b", until), false);
  assert.equal(keeps(until, null), false, "signing out makes nobody a new user");
  for (const other of [undefined, 0, NOW]) assert.equal(keeps(other), false);
  const known = owned.draftTokenArrived(draft(until), until, NOW);
  assert.equal(keeps(known.draftUntil), false, "the draft is the user's before");
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
    const [changed, change] = owned.userChanged(before, "a", next, NOW);
    assert.deepEqual(change, { keepsDraft: false, user, question });
    assert.deepEqual(changed, { ...before, asker: "changed", question });
  });

/** @type {Record<string, [before: State, user: string | undefined, isRunning: boolean, lost: string | undefined]>} */
const SIGN_OUTS = {
  "its user signs out": [draft(NOW), "a", false, "all"],
  "its user signs out while a question runs": [state("unknown", "q"), "a", true, "all"],
  "it has no user while a question waits for its token": [state("unknown", "q"), undefined, true, "question"],
  "it has no user while a question of an anonymous visitor runs": [state("known", "q"), undefined, true, undefined],
  "it has no user and nothing runs": [state("unknown", undefined), undefined, false, undefined],
};

for (const [what, [before, user, isRunning, lost]] of Object.entries(SIGN_OUTS))
  test(`what a page loses by its end of signing visitors in is right if ${what}`, () => {
    assert.equal(lostBySignOut(before, user, isRunning), lost);
  });

test("a tab remembers a session with its user, and nothing without a session", () => {
  assert.equal(memoryOf(undefined, "a"), "");
  assert.equal(sessionIn(memoryOf("s1", "a")), "s1");
  assert.equal(sessionIn(""), undefined);
});

test("a remembered conversation is restored only for its user, also for a visitor without one", () => {
  for (const before of ["a", undefined])
    for (const user of ["a", "b", undefined]) assert.equal(owned.isOwn(memoryOf("s1", before), user), before === user);
});

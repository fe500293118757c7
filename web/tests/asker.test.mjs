import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { INITIAL_ASKER, nextAsker } = await importTs(new URL("../src/panel/asker.ts", import.meta.url));

const [ASKED, ENDED, CHANGED] = ["asked", "ended", "userChanged"].map((type) => ({ type }));
const STARTED = { type: "started", question: "new" };
const TOKEN = { type: "token", turn: 2 };
const OLD_TOKEN = { type: "token", turn: 1 };

/** @typedef {{ status: string, turn: number, question: string | undefined }} State */

/** @returns {State} */
const state = (status, question, turn = 2) => ({ status, turn, question });

/**
 * The next state for each state and event.
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

const name = ({ status, question }) => `${status} ${question === undefined ? "without" : "with"} a question`;

for (const [before, ...transitions] of TABLE) {
  describe(`the asker ${name(before)}`, () => {
    for (const [event, after] of transitions) {
      const what = event.turn === 1 ? "token of an earlier question" : event.type;
      test(`the asker ${name(before)} becomes ${name(after)} on ${what}`, () => {
        assert.deepEqual(nextAsker(before, event), after);
      });
    }
  });
}

const after = (...events) => events.reduce(nextAsker, INITIAL_ASKER);

test("a question is asked again when the first token after it belongs to another user", () => {
  const changed = after(ASKED, { type: "started", question: "q" }, CHANGED);
  assert.deepEqual(changed, { status: "changed", turn: 1, question: "q" });
  const token = { type: "token", turn: 1 };
  assert.equal([ENDED, { type: "started", question: "q" }, token].reduce(nextAsker, changed).status, "known");
});

test("a question is not asked again when the user changes after its token arrived", () => {
  const events = [ASKED, { type: "started", question: "q" }, { type: "token", turn: 1 }, CHANGED];
  assert.equal(after(...events).question, undefined);
});

test("a retry is not asked again when the user changes", () => {
  assert.equal(after(ASKED, { type: "started", question: "q" }, ENDED, CHANGED).question, undefined);
});

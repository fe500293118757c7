// The logic of the demo page, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const {
  ASKED: JUST_ASKED,
  advance,
  elapsed,
  isOver,
  modelReady,
  stepsOf,
} = await importTs(new URL("../demo/stages.ts", import.meta.url));

const ASKED = { stage: "embedding", milliseconds: 0 };
const EMBEDDED = { stage: "embedded", milliseconds: 40, tokens: 11 };
const SENT = { stage: "sent", milliseconds: 45, requestBytes: 4123 };
const SERVER_TIMING = { auth: 1, admission: 4, settings: 0, search: 20, total: 27 };
const FIRST_WORD = { stage: "first_word", milliseconds: 100, serverTiming: SERVER_TIMING };
const COMPLETE = { stage: "complete", milliseconds: 130 };

const courseOf = (...details) => details.reduce(advance, undefined);
const states = (course) => Object.fromEntries(stepsOf(course).map(({ name, state }) => [name, state]));
const times = (course) => stepsOf(course).map(({ name, start, duration }) => [name, start, duration]);

test("every step waits before the first question", () => {
  assert.deepEqual(new Set(stepsOf(undefined).map(({ state }) => state)), new Set(["waiting"]));
});

test("the course always knows the running step", () => {
  const running = (...details) => stepsOf(courseOf(...details)).filter(({ state }) => state === "running");
  const names = (steps) => steps.map(({ name }) => name);
  assert.deepEqual(names(running(ASKED)), ["embed"]);
  assert.deepEqual(names(running(ASKED, EMBEDDED, SENT)), ["check", "search"]);
  assert.deepEqual(names(running(ASKED, EMBEDDED, SENT, FIRST_WORD)), ["complete"]);
  assert.deepEqual(names(running(ASKED, EMBEDDED, SENT, FIRST_WORD, COMPLETE)), []);
});

test("the steps of an answer are consecutive and add up to the whole time", () => {
  const course = courseOf(ASKED, EMBEDDED, SENT, FIRST_WORD, COMPLETE);
  assert.deepEqual(times(course), [
    ["embed", 0, 40],
    ["check", 45, 5],
    ["search", 50, 20],
    ["first_word", 70, 30],
    ["complete", 100, 30],
  ]);
  assert.equal(elapsed(course), 130);
  assert.equal(course.tokens, 11);
  assert.equal(course.requestBytes, 4123);
  assert.ok(isOver(course));
});

test("server timings above the time that the browser measured give no negative duration", () => {
  const course = courseOf(ASKED, EMBEDDED, SENT, {
    ...FIRST_WORD,
    serverTiming: { auth: 50, admission: 50, search: 50 },
  });
  assert.deepEqual(times(course).slice(1, 4), [
    ["check", 45, 55],
    ["search", 100, 0],
    ["first_word", 100, 0],
  ]);
});

test("check and search are done without durations if there are no server timings", () => {
  const course = courseOf(ASKED, EMBEDDED, SENT, { stage: "first_word", milliseconds: 100 });
  assert.deepEqual(times(course).slice(1, 4), [
    ["check", undefined, undefined],
    ["search", undefined, undefined],
    ["first_word", 45, 55],
  ]);
  assert.equal(states(course).search, "done");
});

test("a language model that writes is a step in place of the first word", () => {
  const writing = { stage: "writing", milliseconds: 80 };
  const running = courseOf(ASKED, EMBEDDED, SENT, writing);
  assert.deepEqual(states(running), {
    embed: "done",
    check: "done",
    search: "done",
    write: "running",
    complete: "waiting",
  });
  const course = courseOf(ASKED, EMBEDDED, SENT, writing, FIRST_WORD, COMPLETE);
  assert.deepEqual(times(course).slice(2), [
    ["search", 50, 20],
    ["write", 70, 30],
    ["complete", 100, 30],
  ]);
});

test("a refusal ends the course in place of the first word", () => {
  const course = courseOf(ASKED, EMBEDDED, SENT, { ...FIRST_WORD, stage: "refused" });
  assert.deepEqual(states(course), { embed: "done", check: "done", search: "done", refused: "done" });
});

test("a failure marks only the first unfinished step", () => {
  const failed = { stage: "failed", milliseconds: 300 };
  assert.deepEqual(states(courseOf(ASKED, failed)), {
    embed: "failed",
    check: "waiting",
    search: "waiting",
    first_word: "waiting",
    complete: "waiting",
  });
  assert.equal(states(courseOf(ASKED, EMBEDDED, SENT, failed)).check, "failed");
  assert.equal(states(courseOf(ASKED, EMBEDDED, SENT, FIRST_WORD, failed)).complete, "failed");
  assert.equal(states(courseOf(ASKED, EMBEDDED, SENT, FIRST_WORD, failed)).search, "done");
});

test("the next question starts a new course, and so does a retry", () => {
  const over = courseOf(ASKED, EMBEDDED, SENT, { stage: "failed", milliseconds: 300 });
  assert.deepEqual(states(advance(over, ASKED)), states(courseOf(ASKED)));
  const retried = advance(over, { ...SENT, milliseconds: 1 });
  assert.equal(retried.at.failed, undefined);
  assert.equal(states(retried).search, "running");
  assert.equal(courseOf(ASKED, EMBEDDED, ASKED).tokens, undefined, "the unfinished course is discarded");
});

test("the time to load the model counts as part of the first step", () => {
  assert.equal(states(JUST_ASKED).embed, "running");
  const asked = advance(modelReady(JUST_ASKED), { ...ASKED, milliseconds: 400 });
  const loaded = advance(asked, { ...EMBEDDED, milliseconds: 440 });
  assert.deepEqual(times(loaded)[0], ["embed", 0, 440]);
  assert.equal(loaded.loadedModel, true);
});

test("the course mentions the model only if the question waited for it", () => {
  assert.equal(modelReady(courseOf(ASKED)).loadedModel, true);
  assert.equal(modelReady(courseOf(ASKED, EMBEDDED)).loadedModel, false);
  assert.equal(modelReady(courseOf(ASKED, { stage: "failed", milliseconds: 9 })).loadedModel, false);
  assert.equal(advance(modelReady(courseOf(ASKED)), EMBEDDED).loadedModel, true);
});

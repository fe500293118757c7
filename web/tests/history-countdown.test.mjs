import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { Countdown } = await importTs(new URL("../src/panel/history/strips.ts", import.meta.url));

let now, ended, countdown;

beforeEach(() => {
  now = 1000;
  ended = 0;
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => now);
  countdown = new Countdown(100, () => ended++);
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

function pass(milliseconds) {
  now += milliseconds;
  mock.timers.tick(milliseconds);
}

test("a countdown ends once, after its time", () => {
  pass(99);
  assert.equal(ended, 0);
  pass(1);
  assert.equal(ended, 1);
  pass(1000);
  assert.equal(ended, 1);
});

test("a paused countdown continues with the remaining time", () => {
  pass(60);
  countdown.pause();
  pass(10_000);
  countdown.resume();
  pass(39);
  assert.equal(ended, 0);
  pass(1);
  assert.equal(ended, 1);
});

test("pausing or resuming a countdown twice has no further effect", () => {
  pass(30);
  countdown.pause();
  pass(50);
  countdown.pause();
  countdown.resume();
  pass(30);
  countdown.resume();
  pass(39);
  assert.equal(ended, 0);
  pass(1);
  assert.equal(ended, 1);
});

test("a countdown does not restart after its end", () => {
  pass(100);
  countdown.pause();
  countdown.resume();
  pass(1000);
  assert.equal(ended, 1);
});

test("a countdown that is paused for ever ends after five minutes", () => {
  pass(60);
  countdown.pause();
  pass(299_000);
  assert.equal(ended, 0);
  pass(1_000);
  assert.equal(ended, 1);
  countdown.resume();
  pass(600_000);
  assert.equal(ended, 1);
});

for (const isHeld of [false, true]) {
  test(`a countdown that is cancelled ${isHeld ? "while paused" : "while running"} never ends`, () => {
    if (isHeld) countdown.pause();
    countdown.cancel();
    countdown.resume();
    pass(1000);
    assert.equal(ended, 0);
  });
}

// What is stored after the visitor has the answer: a test waits for it.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const LIMIT_MS = 10_000;
const PAUSE_MS = 100;

/** Reads until the value equals `expected`; fails with the difference of the last one after 10 seconds. */
export async function eventuallyEqual(read, expected) {
  const start = performance.now();
  for (;;) {
    const value = await read();
    try {
      return assert.deepEqual(value, expected);
    } catch (error) {
      if (performance.now() - start > LIMIT_MS) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

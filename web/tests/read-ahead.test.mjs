// Events of a stream are read while earlier ones are shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as laterTask, setTimeout as after } from "node:timers/promises";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { readAhead } = await importTs(new URL("../src/panel/chat/conversation.ts", import.meta.url));

/** Gives the items one after the other, and then fails if an error is given. */
async function* source(items, error) {
  for (const item of items) {
    await laterTask();
    yield item;
  }
  if (error) throw error;
}

/** The items that a consumer gets that takes this long for each, and what it catches. */
async function consume(items, milliseconds) {
  const got = [];
  try {
    for await (const item of items) {
      got.push(item);
      await after(milliseconds);
    }
  } catch (error) {
    return { got, error };
  }
  return { got };
}

const LOST = new Error("connection lost");

for (const milliseconds of [0, 20]) {
  test(`a consumer that takes ${milliseconds} ms gets all items in order, and then the error`, async () => {
    assert.deepEqual(await consume(readAhead(source([1, 2, 3])), milliseconds), { got: [1, 2, 3] });
    assert.deepEqual(await consume(readAhead(source([1, 2, 3], LOST)), milliseconds), { got: [1, 2, 3], error: LOST });
    assert.deepEqual(await consume(readAhead(source([])), milliseconds), { got: [] });
    assert.deepEqual(await consume(readAhead(source([], LOST)), milliseconds), { got: [], error: LOST });
  });
}

test("the source is read to its end while the first item is handled", async () => {
  let isRead = false;
  const ahead = readAhead(
    (async function* () {
      yield* source([1, 2, 3]);
      isRead = true;
    })(),
  );
  assert.equal((await ahead.next()).value, 1);
  await after(20);
  assert.ok(isRead);
  assert.deepEqual(await consume(ahead, 0), { got: [2, 3] });
});

test("an error of a source that nobody reads any more is no unhandled rejection", async (t) => {
  const unhandled = t.mock.fn();
  process.on("unhandledRejection", unhandled);
  t.after(() => process.off("unhandledRejection", unhandled));
  for await (const item of readAhead(source([1, 2], LOST))) {
    assert.equal(item, 1);
    break;
  }
  await after(20);
  assert.equal(unhandled.mock.callCount(), 0);
});

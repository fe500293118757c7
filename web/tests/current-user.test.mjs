import assert from "node:assert/strict";
import { test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";

const { reportFailures } = await importTs(new URL("../src/panel/current-user.ts", import.meta.url));

test("the console shows only the message of what a token provider throws", async (t) => {
  const log = t.mock.method(console, "error", () => undefined);
  const error = Object.assign(new ReferenceError("supabase is not defined"), { token: "secret" });
  const failing = reportFailures(async () => {
    throw error;
  });
  await assert.rejects(failing(), error);
  const notAFunction = reportFailures(undefined);
  await assert.rejects(notAFunction(), TypeError);
  const [first, second] = log.mock.calls.map(({ arguments: words }) => words.join(" "));
  assert.equal(first, "<evidence-chat>: tokenProvider failed: supabase is not defined");
  assert.match(second, /^<evidence-chat>: tokenProvider failed: .*not a function/);
});

test("a token is passed on and not logged", async (t) => {
  const log = t.mock.method(console, "error", () => undefined);
  assert.equal(await reportFailures(async () => "a.b.c")(), "a.b.c");
  assert.equal(await reportFailures(async () => null)(), null);
  assert.equal(log.mock.callCount(), 0);
});

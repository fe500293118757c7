// What the insights need of the Worker: where administrators sign in, and how often visitors look at citations.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertError, send } from "./support/client.mjs";
import { startClockWorker, tokenOf } from "./support/clock.mjs";
import { startUpstream } from "./support/upstream.mjs";
import { closePair } from "./support/worker.mjs";

let upstream;
let worker;

before(async () => {
  upstream = await startUpstream();
  worker = await startClockWorker(upstream, {});
});

after(() => closePair({ upstream, worker }));

const count = (body, { user = crypto.randomUUID(), path = "/api/citation-use" } = {}) =>
  send(worker.url, path, { method: "POST", token: tokenOf(user), body });

test("names the Supabase project to everybody", async () => {
  const { status, json } = await send(worker.url, "/api/project");
  assert.equal(status, 200);
  assert.deepEqual(Object.keys(json).sort(), ["publishable_key", "supabase_url"]);
  assert.equal(json.supabase_url, upstream.url);
});

test("counts the use of citations with the Worker's secret and the user's token, once", async () => {
  const { status, text } = await count({ hovered: 3, opened: 1 });
  assert.deepEqual([status, text], [204, ""]);
  const { status: named } = await count({ copied: 1000 }, { path: "/api/citation-use?assistant=shop" });
  assert.equal(named, 204);
  assert.deepEqual(upstream.history.citationUses(), [
    { hovered: 3, opened: 1, copied: 0, assistant: "default" },
    { hovered: 0, opened: 0, copied: 1000, assistant: "shop" },
  ]);
});

test("rejects counts out of range, other fields and requests without a token", async () => {
  const before = upstream.history.citationUses().length;
  for (const body of [{ hovered: 1001 }, { opened: -1 }, { copied: 0.5 }, { question: "How long?" }, []])
    assertError(await count(body), 400, "invalid_request");
  assertError(
    await send(worker.url, "/api/citation-use", { method: "POST", body: { opened: 1 } }),
    401,
    "unauthorized",
  );
  assert.equal(upstream.history.citationUses().length, before);
});

// The widget and its model on an origin of their own, as a CDN has it, under a strict policy of the page.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { serve } from "../../../tests/lib/static-server.mjs";
import { ANSWER, QUESTION, startSuite } from "./support/suite.mjs";
import { strictPolicy } from "./support/widget-page.mjs";
import { WIDGET } from "./support/widget-site.mjs";

const { site, browser, open } = await startSuite();
let cdn, needed;

before(async () => {
  cdn = await serve(WIDGET, { "access-control-allow-origin": "*", "cache-control": "no-store" });
  site.script = `${cdn.origin}/evidence-chat.js`;
  /** What the policy needs beside what it needs for files of the page's own. */
  needed = [
    ["script-src", cdn.origin],
    ["connect-src", cdn.origin],
    ["worker-src", cdn.origin],
    ["worker-src", "blob:"],
  ];
});

after(() => cdn?.close());

beforeEach(async () => {
  cdn.requests.length = 0;
  await site.forgetModel(browser);
});

/** Opens the page under the policy with these sources added. */
function openUnder(t, sources) {
  const more = {};
  for (const [directive, source] of sources) (more[directive] ??= []).push(source);
  return open(t, { attributes: { "model-url": null }, csp: strictPolicy(site.api, more) });
}

test("with the CDN in the policy a question is answered, and everything comes from there", async (t) => {
  const widget = await openUnder(t, needed);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  await widget.role("export").click();
  await widget.role("export-preview").filter({ hasText: "Refunds" }).waitFor();
  for (const file of [
    /^\/evidence-chat\.js$/,
    /^\/panel-/,
    /^\/worker\.js$/,
    /\.wasm$/,
    /\.safetensors$/,
    /^\/references-/,
  ])
    assert.ok(
      cdn.requests.some((path) => file.test(path)),
      `${file} in ${cdn.requests.join(", ")}`,
    );
  assert.deepEqual(
    site.requests.filter((path) => /widget|model/.test(path)),
    [],
  );
});

for (const [left, name] of [
  [1, "the CDN in connect-src"],
  [2, "the CDN in worker-src"],
  [3, "blob: in worker-src"],
]) {
  test(`without ${name} the visitor is told that the AI could not be loaded`, async (t) => {
    const widget = await openUnder(t, needed.toSpliced(left, 1));
    await widget.role("input").fill(QUESTION);
    await widget.role("input").press("Enter");
    await widget.role("model-retry").waitFor();
    await widget.becomes("error");
    assert.deepEqual(site.api.questions(), []);
    const exceptions = takeErrors(widget).filter((error) => !error.includes("Content Security Policy"));
    assert.deepEqual(exceptions, []);
  });
}

test("without the CDN in script-src there is no widget, and the page goes on without it", async (t) => {
  const widget = await openUnder(t, needed.slice(1));
  assert.equal(await widget.page.evaluate(() => customElements.get("evidence-chat") === undefined), true);
  await widget.page.getByText("Visit us in the old town.").waitFor();
  assert.match(takeErrors(widget).join(), /Content Security Policy.*script-src/);
});

/** What the page has complained of, and no longer does. */
function takeErrors({ page }) {
  return page.errors.splice(0);
}

// The widget and its model on another origin, like a CDN, under a strict policy of the page.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { after, before, beforeEach, test } from "node:test";
import { POLICY } from "../../../tests/lib/browser.mjs";
import { serve } from "../../../tests/lib/static-server.mjs";
import { integrityOf } from "../../build/integrity.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { strictPolicy } from "./pages/widget/page.mjs";
import { WIDGET } from "./pages/widget/site.mjs";

const { site, browser, open } = await startWidgetSuite();
let cdn, needed;

before(async () => {
  cdn = await serve(WIDGET, { "access-control-allow-origin": "*", "cache-control": "no-store" });
  site.script = `${cdn.origin}/evidence-chat.js`;
  /** The sources that the policy needs in addition to those for files of the page's own origin. */
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
  site.integrity = site.importMap = undefined;
  await site.forgetModel(browser);
});

/** Opens the page under the policy with additional sources. */
function openUnder(t, sources) {
  const more = {};
  for (const [directive, source] of sources) (more[directive] ??= []).push(source);
  return open(t, { attributes: { "model-url": null }, csp: strictPolicy(site.api, more) });
}

test("a question is answered with all files from a CDN that the policy allows", async (t) => {
  const widget = await openUnder(t, needed);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  await widget.role("export").click();
  await widget.role("export-preview").filter({ hasText: "Refunds" }).waitFor();
  for (const file of [
    /^\/evidence-chat\.js$/,
    /^\/panel-/,
    /^\/worker-\w{8}\.js$/,
    /\.wasm$/,
    /all-MiniLM[\w-]+\.safetensors\.gz$/,
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
  test(`a policy without ${name} shows that the AI could not be loaded`, async (t) => {
    const widget = await openUnder(t, needed.toSpliced(left, 1));
    await widget.role("input").fill(QUESTION);
    await widget.role("input").press("Enter");
    await widget.role("model-retry").waitFor();
    await widget.becomes("error");
    assert.deepEqual(site.api.questions(), []);
    const exceptions = takeErrors(widget).filter((error) => !POLICY.test(error));
    assert.deepEqual(exceptions, []);
  });
}

test("a policy without the CDN in script-src leaves the page without the widget", async (t) => {
  const widget = await openUnder(t, needed.slice(1));
  assert.equal(await widget.page.evaluate(() => customElements.get("evidence-chat") === undefined), true);
  await widget.page.getByText("Visit us in the old town.").waitFor();
  const violations = takeErrors(widget).join();
  assert.match(violations, POLICY);
  assert.match(violations, /script-src/);
});

/** The hashes of `dist/integrity.json`. */
async function publishedHashes() {
  return JSON.parse(await readFile(`${WIDGET}/integrity.json`, "utf8")).files;
}

test("the published hashes cover all files that a browser can load", async () => {
  const files = await publishedHashes();
  const names = [...(await readdir(WIDGET)), ...(await readdir(`${WIDGET}/writer`)).map((name) => `writer/${name}`)];
  const loaded = names.filter((name) => /\.(js|wasm|safetensors\.gz)$/.test(name));
  assert.ok(loaded.length >= 12, loaded.join());
  for (const name of loaded) assert.equal(files[name], integrityOf(await readFile(`${WIDGET}/${name}`)), name);
  for (const name of Object.keys(files)) assert.ok(names.includes(name), name);
});

/** Opens the page with the published hashes in its tag and in an import map, as the README has them. */
async function openWithHashes(t, setUp) {
  const files = await publishedHashes();
  const scripts = Object.entries(files).filter(([name]) => name.endsWith(".js"));
  const integrity = Object.fromEntries(scripts.map(([name, hash]) => [`${cdn.origin}/${name}`, hash]));
  site.importMap = JSON.stringify({ integrity });
  site.integrity = files["evidence-chat.js"];
  const allowed = `'sha256-${createHash("sha256").update(site.importMap).digest("base64")}'`;
  const more = { "script-src": [allowed] };
  for (const [directive, source] of needed) (more[directive] ??= []).push(source);
  return open(t, { attributes: { "model-url": null }, csp: strictPolicy(site.api, more), setUp });
}

/** Modifies the files with that name in transit. */
const changing = (pattern) => (page) =>
  page.route(pattern, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}\n// changed` });
  });

test("a page with the published hashes answers a question and exports its references", async (t) => {
  const widget = await openWithHashes(t);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  await widget.role("export").click();
  await widget.role("export-preview").filter({ hasText: "Refunds" }).waitFor();
});

test("a modified launcher does not run", async (t) => {
  const widget = await openWithHashes(t, changing("**/evidence-chat.js"));
  await widget.page.getByText("Visit us in the old town.").waitFor();
  assert.equal(await widget.page.evaluate(() => customElements.get("evidence-chat") === undefined), true);
});

for (const name of ["panel", "texts-en"]) {
  test(`a modified file ${name} does not run, and the load failure is shown`, async (t) => {
    const widget = await openWithHashes(t, changing(`**/${name}-*.js`));
    await widget.role("input").focus();
    await widget.role("load-failed").waitFor();
    assert.equal((await widget.events("error"))[0].detail.code, "load_failed");
  });
}

test("the same modified file runs without the hashes", async (t) => {
  const more = {};
  for (const [directive, source] of needed) (more[directive] ??= []).push(source);
  const csp = strictPolicy(site.api, more);
  const widget = await open(t, { attributes: { "model-url": null }, csp, setUp: changing("**/panel-*.js") });
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

/** Takes the collected errors of the page. */
function takeErrors({ page }) {
  return page.errors.splice(0);
}

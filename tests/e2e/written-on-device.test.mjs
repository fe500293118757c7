// Answers that the real model writes in the visitor's browser, next to the quotes of the real demo. The tests run in order on one
// demo. Only properties are asserted: the text of a model differs from one processor to another.
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventuallyEqual } from "../lib/eventually-equal.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { Widget } from "../lib/widget.mjs";

const COVERED = "Can I get my money back after two weeks?";
const NEXT = "What does standard delivery cost?";
/** A prompt takes seconds, and minutes on a busy machine. */
const LIMIT_MS = 180_000;
const LIMIT = { timeout: LIMIT_MS };

const { demo, page } = await startDemoSuite({ options: ["--write-on-device"], browser: {} });
const widget = new Widget(page);
/** What the page has requested, as method and URL. */
const requests = [];
page.on("request", (request) => requests.push(`${request.method()} ${request.url()}`));

const box = (...states) =>
  widget.lastReply.locator(states.map((state) => `[data-role=on-device][data-state=${state}]`).join(", "));
const quotes = () => widget.lastReply.locator("[data-role=answer]").last().innerText();
/** Files of the writer that were requested since then, without the page's address. */
const writerFiles = (since = 0) =>
  requests.slice(since).flatMap(
    (request) =>
      request
        .match(/^(\w+) .*(\/writer(?:-model)?\/.*)$/)
        ?.slice(1)
        .join(" ") ?? [],
  );
/** Origins of requests to other servers than the page's. */
const otherOrigins = (since) => [
  ...new Set(
    requests
      .slice(since)
      .map((request) => new URL(request.split(" ")[1]).origin)
      .filter((origin) => origin !== new URL(demo.info.page_url).origin),
  ),
];
const downloads = () => writerFiles().filter((request) => /^GET .*\.gguf$/.test(request));
const cachedModels = () =>
  page.evaluate(async () => {
    const urls = [];
    for (const name of await caches.keys())
      for (const { url } of await (await caches.open(name)).keys()) if (url.includes(".gguf")) urls.push(url);
    return urls;
  });
/** Letters and digits only: a card shows a passage without its Markdown. */
const words = (text) => text.match(/[\p{L}\p{N}]+/gu).join(" ");

let answered;

test("the quotes are the answer, and the writer is only offered", async () => {
  await page.goto(demo.info.page_url);
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
  await widget.askFor(COVERED);
  await box("offer").waitFor();
  answered = await quotes();
  assert.match(answered, /30 days/);
  assert.deepEqual(writerFiles(), []);
  await widget.find("write").click();
  await box("consent").waitFor();
  assert.match(await widget.find("write-yes").innerText(), /^Download \d+ MB$/);
  const [module, size, ...others] = writerFiles();
  assert.equal(module, "GET /writer/index.js");
  assert.match(size, /^HEAD \/writer-model\/.*\.gguf$/);
  assert.deepEqual(others, []);
});

test("after the visitor's consent the model writes, and nothing leaves the page's server", LIMIT, async () => {
  const since = requests.length;
  await widget.find("write-yes").click();
  await box("writing").waitFor({ timeout: LIMIT_MS });
  await box("written", "nothing").waitFor({ timeout: LIMIT_MS });
  assert.deepEqual(otherOrigins(since), []);
  assert.equal(downloads().length, 1, downloads().join());
  const [model] = downloads().map((request) => request.replace("GET ", new URL(demo.info.page_url).origin));
  await eventuallyEqual(cachedModels, [model]);
  assert.equal(await quotes(), answered, "the quotes stay");
});

test("each marker of the text is a number of the answer, and the card has words of that source", LIMIT, async () => {
  await checkWritten();
});

test("the next answer is written by itself, and can be stopped", LIMIT, async () => {
  const since = requests.length;
  await widget.askFor(NEXT);
  const shown = await quotes();
  await widget.lastReply.locator("[data-role=write-cancel]").click();
  await box("offer").waitFor();
  assert.equal(await quotes(), shown);
  await box("offer").locator("[data-role=write]").click();
  await box("written", "nothing").waitFor({ timeout: LIMIT_MS });
  await checkWritten();
  assert.deepEqual(writerFiles(since), [], "the model is in memory");
  assert.deepEqual(otherOrigins(since), [new URL(demo.info.chat_url).origin], "for the question");
});

test("what is written on the device is not in the visitor's history", async () => {
  const stored = await demo.rest("GET", "chat_messages?role=eq.assistant&select=content,mode");
  assert.deepEqual(
    stored.map(({ mode }) => mode),
    ["extractive", "extractive"],
  );
});

test("the page logged no error", () => {
  assert.deepEqual(page.errors, []);
});

/** Checks the written text of the last reply against the passages of its answer, whatever the model wrote. */
async function checkWritten() {
  const { citations } = JSON.parse(await page.locator("#raw-json").textContent());
  assert.ok(citations.length > 0);
  if ((await box("nothing").count()) > 0) return;
  const text = box("written");
  assert.match(await text.locator("[data-role=generated-note]").innerText(), /^Written on this device/);
  const markers = text.locator("[data-role=marker]");
  const count = await markers.count();
  assert.ok(count > 0);
  for (let at = 0; at < count; at++) {
    const number = Number(await markers.nth(at).innerText());
    const cited = citations.filter(({ index }) => index === number);
    assert.ok(cited.length > 0, `marker ${number}`);
    // A key makes the focus visible, which opens the card.
    await widget.find("input").press("End");
    await markers.nth(at).focus();
    const card = widget.host.locator("[data-role=citation-card][data-open]");
    await card.waitFor();
    assert.ok((await card.locator("[data-role=source-sentence]").count()) > 0);
    const supports = await card.locator("mark").allInnerTexts();
    assert.ok(supports.length > 0);
    const passages = cited.map(({ excerpt }) => words(excerpt));
    for (const support of supports) {
      assert.ok(
        passages.some((passage) => passage.includes(words(support))),
        support,
      );
    }
    await page.keyboard.press("Escape");
  }
}

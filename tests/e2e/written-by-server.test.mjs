// Answers that the real model on a real llama.cpp server writes for the Worker, in the widget of the real demo. Only properties are
// asserted: the text of a model differs from one processor to another, and a busy one exceeds the time limits.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { Widget } from "../lib/widget.mjs";

const COVERED = "Can I get my money back after two weeks?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";
const FALLBACKS = ["timeout", "error", "unsupported", "budget", "declined"];
/** The demo gives the model 40 seconds. */
const LIMIT = { timeout: 120_000 };

const { demo, page } = await startDemoSuite({ options: ["--write"], browser: {} });
const widget = new Widget(page);

test("visitors are told before their first question where it goes", async () => {
  await page.goto(demo.info.page_url);
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
  await widget.find("input").focus();
  const service = new URL(demo.info.model_server_url).host;
  await widget.find("privacy").getByText(service).waitFor();
});

test("a written answer rests on its sources, or the quotes say why there is none", LIMIT, async () => {
  await widget.ask(COVERED);
  await widget.lastReply.getByText("Writing and checking…").waitFor();
  await widget.replyEnds("done", LIMIT);

  const outcome = JSON.parse(await page.locator("#raw-json").textContent());
  const { mode, generation, citations, text } = outcome;
  assert.equal(generation.model, "SmolLM2-135M-Instruct");
  const numbers = [...text.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number));
  assert.ok(numbers.length > 0, text);
  for (const number of numbers)
    assert.ok(
      citations.some(({ index }) => index === number),
      `marker ${number}`,
    );
  const note = widget.lastReply.locator("[data-role=generated-note]");
  if (mode === "generated") {
    assert.equal(generation.fallback, undefined);
    assert.ok(generation.sentences > 0);
    assert.match(await note.innerText(), /^Written by a language model/);
  } else {
    assert.ok(FALLBACKS.includes(generation.fallback), JSON.stringify(generation));
    assert.equal(generation.sentences, 0);
    assert.equal(await note.count(), 0);
    assert.match(text, /30 days/);
  }
  for (const { excerpt, quotes, supports = [] } of citations) {
    if (mode === "extractive") assert.deepEqual(supports, []);
    for (const words of [...quotes, ...supports]) assert.equal(excerpt.slice(words.start, words.end), words.text);
  }
  // Of the written sentences, each has a source sentence.
  const supported = new Set(citations.flatMap(({ supports = [] }) => supports.map(({ sentence }) => sentence)));
  if (mode === "generated") assert.equal(supported.size, generation.sentences);

  const [stored] = await demo.rest("GET", "chat_messages?role=eq.assistant&select=content,mode,citations");
  assert.deepEqual([stored.content, stored.mode, stored.citations], [text, mode, citations]);
  assert.match(await page.locator("#left-to-model").innerText(), /passages/);
});

test("a refusal asks no model", LIMIT, async () => {
  await widget.askFor(OFF_TOPIC, "refused");
  assert.doesNotMatch(await page.locator("#left-to-model").innerText(), /passages/);
});

test("the page logged no error", () => {
  assert.deepEqual(page.errors, []);
});

// Measures the reader natively, and in Chromium as the npm package runs it: in its own Web Worker. Prints the figures as JSON; the
// program that reads them is bench/src/reader.rs. Environment: TIME_READ, EVIDENCE_MODEL_DIR, CHROMIUM_PATH.
import { execFileSync } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { loadEmbedder, modelFolder } from "../../tests/lib/embedder.mjs";
import { findRenderer } from "../browser/renderer.mjs";
import { serve } from "../browser/server.mjs";
import { openUnwatchedBrowser } from "../browser/unwatched-browser.mjs";
import { median, percentiles, round } from "../edge/lib/statistics.mjs";
import { traced } from "../widget/trace.mjs";

/** Tokens of a question, with the two that mark its ends. */
const QUESTION_TOKENS = [15, 16, 17];
/** Questions before the measured ones. V8 compiles hot functions again meanwhile. */
const WARM_UP = 10;
/** Questions that are asked again in a trace, which takes time of its own. */
const TRACED = 24;
const LOADS = 5;

const folder = (path) => fileURLToPath(new URL(path, import.meta.url));
const text = await readFile(new URL("passages.txt", import.meta.url), "utf8");
const passages = text
  .trim()
  .split("\n\n")
  .map((block) => {
    const [heading, ...statements] = block.split("\n");
    return { heading, statements };
  });
const { embedder } = await loadEmbedder();
const shop = await readFile(new URL("../retrieval/shop/answerable.jsonl", import.meta.url), "utf8");
const questions = shop
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line).question)
  .filter((question) => QUESTION_TOKENS.includes(embedder.countTokens(question)));
const warmUp = questions.slice(0, WARM_UP);

process.stderr.write("  native\n");
const native = timeNatively([...warmUp, ...questions]).slice(WARM_UP);
const server = await serve({ "/page/": folder("../browser/page/"), "/dist/": folder("../../embedder-wasm/npm/dist/") });
try {
  process.stderr.write("  Chromium\n");
  const { times, longestTaskMs, chromium } = await timeInChromium();
  const loads = [];
  while (loads.length < LOADS) {
    process.stderr.write(`  load and memory, run ${loads.length + 1} of ${LOADS}\n`);
    loads.push(await measureLoad());
  }
  const { size } = await stat(join(modelFolder(), "reader-int8.safetensors"));
  const middle = (name) => round(median(loads.map((load) => load[name])));
  const figures = [
    ...speed("browser", times),
    ...speed("native", native),
    ["longest_task_reading_ms", round(longestTaskMs)],
    ["reader_file_mb", round(size / 1e6)],
    ...Object.keys(loads[0]).map((name) => [name, middle(name)]),
  ];
  const lengths = passages.map(tokensOf);
  const context = {
    chromium,
    questions: questions.length,
    passage_tokens: lengths.join(" + "),
    all_passage_tokens: lengths.reduce((sum, length) => sum + length),
  };
  console.log(JSON.stringify({ figures, context }));
} finally {
  server.close();
}

/** Figures of `[milliseconds to embed a question, milliseconds to read the passages for it]`. */
function speed(place, times) {
  const [embed, read] = [0, 1].map((part) => times.map((pair) => pair[part]));
  return [
    ...percentiles(`${place}_read`, read),
    ...percentiles(`${place}_embed`, embed, [50]),
    [`${place}_read_ratio`, round(median(read) / median(embed))],
  ];
}

/** What the reader reads of a passage: heading, statements, a mark before each and one at the end. */
function tokensOf({ heading, statements }) {
  // `countTokens` adds two to each text, so all but one are those marks.
  return [heading, ...statements].reduce((sum, text) => sum + embedder.countTokens(text) - 1, 0);
}

function timeNatively(questions) {
  const { TIME_READ } = process.env;
  if (!TIME_READ) throw new Error("TIME_READ is not set; run `cargo xtask bench reader`");
  const output = execFileSync(TIME_READ, [modelFolder()], { input: questions.join("\n"), encoding: "utf8" });
  const lines = output.trim().split("\n");
  return lines.map((line) => line.split(" ").map(Number));
}

async function timeInChromium() {
  const browser = await openBrowser();
  try {
    const context = browser.page.context();
    const page = await openPage(context);
    await page.evaluate(loadReader);
    await page.evaluate(ask, { questions: warmUp, passages });
    const times = await page.evaluate(ask, { questions, passages });
    const devtools = await context.newCDPSession(page);
    const again = { questions: questions.slice(0, TRACED), passages };
    const { longestTask } = await traced(devtools, server.origin, () => page.evaluate(ask, again));
    return { times, longestTaskMs: longestTask.ms, chromium: context.browser()?.version() };
  } finally {
    await browser.close();
  }
}

/** Figures of a load with an empty profile, of the memory then, and of a load from the cache. */
async function measureLoad() {
  const browser = await openUnwatchedBrowser();
  try {
    const first = await openPage(browser);
    const renderer = await findRenderer(first);
    const before = await renderer.memoryMib();
    server.takeBytes();
    const coldMs = await first.evaluate(loadReader);
    const bytes = server.takeBytes();
    const loaded = await renderer.memoryMib();
    await first.evaluate(ask, { questions: warmUp, passages });
    const used = await renderer.memoryMib();
    await first.close();
    const second = await openPage(browser);
    return {
      reader_file_served_mb: bytes / 1e6,
      reader_cold_ms: coldMs,
      reader_warm_ms: await second.evaluate(loadReader),
      renderer_before_mib: before.now,
      renderer_loaded_mib: loaded.now,
      renderer_used_mib: used.now,
      // The kernel updates the peak late, so a reading can exceed it.
      renderer_peak_mib: Math.max(loaded.now, used.now, used.peak),
    };
  } finally {
    await browser.close();
  }
}

/** A blank page with the embedder loaded. */
async function openPage(browser) {
  const page = await browser.newPage();
  await page.goto(`${server.origin}/page/index.html`);
  await page.evaluate(async (url) => {
    const { createEmbedder } = await import(url);
    window.embedder = await createEmbedder();
  }, `${server.origin}/dist/index.js`);
  return page;
}

/** Runs in the page: milliseconds until the reader is loaded. */
async function loadReader() {
  const started = performance.now();
  await window.embedder.loadReader();
  return performance.now() - started;
}

/** Runs in the page: for each question, milliseconds to embed it and to read the passages for it. */
async function ask({ questions, passages }) {
  const times = [];
  for (const question of questions) {
    const started = performance.now();
    await window.embedder.embed(question);
    const embedded = performance.now();
    await window.embedder.readPassages(question, passages);
    times.push([embedded - started, performance.now() - embedded]);
  }
  return times;
}

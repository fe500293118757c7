// Measures embedders in Chromium, alternately: `node run.mjs PLAN.json`. The plan names what to measure, the files, and where to
// write the result. bench/src/embedder/browser/ writes the plan and reads the result.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { cosine } from "../../tests/lib/reference.mjs";
import { findRenderer } from "./renderer.mjs";
import { serve } from "./server.mjs";
import { openUnwatchedBrowser } from "./unwatched-browser.mjs";

const PAGE = fileURLToPath(new URL("page/", import.meta.url));

/** Each round starts a new browser, because browsers differ a little from one start to the next. */
const SPEED_RUNS = 2;
const SPEED_ROUNDS = 6;
const LOADS = 5;

const plan = JSON.parse(await readFile(process.argv[2], "utf8"));
const server = await serve({ "/page/": PAGE, ...plan.mounts });
try {
  const result = { speed: {}, load: {} };
  for (const { id } of plan.embedders) {
    result.speed[id] = {};
    result.load[id] = [];
  }
  for (let run = 1; run <= SPEED_RUNS; run++) {
    console.log(`  speed, run ${run} of ${SPEED_RUNS}`);
    result.chromium = await measureSpeed(result.speed);
  }
  for (let run = 1; run <= LOADS; run++) {
    console.log(`  load and memory, run ${run} of ${LOADS}`);
    for (const embedder of plan.embedders) result.load[embedder.id].push(await measureLoad(embedder));
  }
  console.log("  accuracy");
  result.accuracy = await measureAccuracy(JSON.parse(await readFile(plan.reference, "utf8")).items);
  await writeFile(plan.result, JSON.stringify(result));
} finally {
  server.close();
}

/** Adds to `speed[id][test]` the CPU milliseconds of one text, or of one batch, in each round. */
async function measureSpeed(speed) {
  return withBrowser(async (context) => {
    const pages = [];
    for (const embedder of plan.embedders.filter(({ speed }) => speed)) {
      const page = await openPage(context, embedder);
      await load(page, embedder);
      pages.push({ ...page, times: speed[embedder.id] });
    }
    // Gives V8 time to recompile hot functions with its optimising compiler.
    for (const { call } of pages) {
      for (const { command, texts, calls } of plan.tests) await call(command, texts, calls);
      await call("oneByOne", plan.tests[0].texts, 30);
    }
    for (let round = 0; round < SPEED_ROUNDS; round++) {
      for (const { name, command, texts, calls, per } of plan.tests) {
        for (const { call, renderer, times } of pages) {
          const before = await renderer.cpuMs();
          await call(command, texts, calls);
          (times[name] ??= []).push((((await renderer.cpuMs()) - before) * per) / calls);
        }
      }
    }
    return context.browser()?.version();
  });
}

/** One load with an empty profile, one with caches filled by two loads, and the memory of the first. */
async function measureLoad(embedder) {
  const browser = await openUnwatchedBrowser();
  try {
    server.takeBytes();
    const first = await openPage(browser, embedder);
    const blank = await first.renderer.memoryMib();
    const coldMs = await load(first, embedder);
    const coldBytes = server.takeBytes();
    const loaded = await first.renderer.memoryMib();
    for (const { command, texts, calls } of plan.tests) await first.call(command, texts, Math.min(calls, 4));
    const used = await first.renderer.memoryMib();
    await first.page.close();

    const second = await openPage(browser, embedder);
    await load(second, embedder);
    await second.page.close();
    server.takeBytes();
    const warmMs = await load(await openPage(browser, embedder), embedder);
    return {
      coldMs,
      warmMs,
      coldBytes,
      warmBytes: server.takeBytes(),
      blankMib: blank.now,
      loadedMib: loaded.now,
      usedMib: used.now,
      // The kernel updates the peak late, so a reading can exceed it.
      peakMib: Math.max(loaded.now, loaded.peak, used.now, used.peak),
    };
  } finally {
    await browser.close();
  }
}

/** For each embedder and text: the cosine to the reference vector, and whether the token ids are equal. */
async function measureAccuracy(items) {
  return withBrowser(async (context) => {
    const texts = items.map(({ text }) => text);
    const accuracy = {};
    for (const embedder of plan.embedders.filter(({ accuracy }) => accuracy)) {
      const page = await openPage(context, embedder);
      await load(page, embedder);
      const vectors = await page.call("vectors", texts);
      const ids = await page.call("ids", texts);
      accuracy[embedder.id] = {
        cosines: items.map(({ embedding }, index) => cosine(vectors[index], embedding)),
        sameIds: items.map((item, index) => String(ids[index]) === String(item.ids)),
      };
      await page.page.close();
    }
    return accuracy;
  });
}

async function withBrowser(use) {
  const browser = await openBrowser();
  try {
    return await use(browser.page.context());
  } finally {
    await browser.close();
  }
}

/** A blank page for this embedder, and its process. */
async function openPage(browser, { id }) {
  const page = await browser.newPage();
  await page.goto(`${server.origin}/page/index.html?${id}`);
  await page.waitForFunction(() => "call" in window);
  const renderer = await findRenderer(page);
  const call = (command, ...args) =>
    page.evaluate(({ command, args }) => window.call(command, ...args), { command, args });
  return { page, renderer, call };
}

/** Starts the worker and returns the milliseconds to its first vector. */
async function load({ page, call }, { id, adapter, options }) {
  await page.evaluate(() => window.start());
  try {
    return await call("load", adapter, options);
  } catch (error) {
    throw new Error(`${id} cannot be loaded`, { cause: error });
  }
}

// What the widget adds to the memory of the page's process: while it loads panel and model, and once it has answered a first question;
// and how much of that is the model.
import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { findRenderer } from "../browser/renderer.mjs";
import { openUnwatchedBrowser } from "../browser/unwatched-browser.mjs";
import { modelFolder } from "../../tests/lib/embedder.mjs";
import { HostPage } from "../../tests/lib/host-page.mjs";
import { median, round } from "../edge/lib/statistics.mjs";

const RUNS = 5;
const TIMEOUT_MS = 60_000;
const SETTLE_MS = 2000;

export async function memory({ demo }) {
  const runs = [];
  while (runs.length < RUNS) runs.push({ ...(await visitWithoutModel(demo)), ...(await firstVisit(demo)) });
  const middle = (name) => median(runs.map((run) => run[name]));
  const { size } = await stat(`${modelFolder()}/all-MiniLM-L6-v2-int8.safetensors`);
  const figures = (name, mib) => [
    [`memory_${name}_mib`, round(mib)],
    [`memory_${name}_of_model`, round(mib / (size / 2 ** 20))],
  ];
  return [
    ...["without_model", "loading_peak", "answered", "peak"].flatMap((name) => figures(name, middle(name))),
    ...figures("model_peak", middle("loading_peak") - middle("without_model")),
  ];
}

/** Panel and worker are there and wait for the first byte of the model, which never comes. */
function visitWithoutModel(demo) {
  return visit(demo, { "model-url": "/host/no-model/" }, async (host, added) => {
    const asked = Promise.withResolvers();
    await host.page.route(`${host.origin}/host/no-model/**`, () => asked.resolve(false));
    await host.preload();
    const isLate = setTimeout(TIMEOUT_MS, true, { ref: false });
    if (await Promise.race([asked.promise, isLate])) throw new Error("the widget did not ask for the model");
    await setTimeout(SETTLE_MS);
    return { without_model: (await added()).peak };
  });
}

function firstVisit(demo) {
  return visit(demo, {}, async (host, added) => {
    await host.ready();
    const { peak: loadingPeak } = await added();
    await host.ask("Can I get my money back after two weeks?", TIMEOUT_MS);
    // V8 may be compiling the engine a second time, optimised, for which it holds about 25 MiB (none with --js-flags=--liftoff-only).
    const { peak } = await added();
    await setTimeout(SETTLE_MS);
    const { now: answered } = await added();
    return { loading_peak: loadingPeak, answered, peak };
  });
}

/**
 * Calls `action` on a page of a new browser, with the widget not opened yet. `added` gives the MiB that the process has more than then: now
 * and at most.
 */
async function visit(demo, attributes, action) {
  const browser = await openUnwatchedBrowser();
  try {
    const host = await HostPage.prepare(await browser.newPage(), demo);
    await host.open({ token: await demo.newUser(), attributes });
    const renderer = await findRenderer(host.page);
    const before = await renderer.memoryMib();
    return await action(host, async () => {
      const { now, peak } = await renderer.memoryMib();
      // The kernel updates the peak late, so a reading can exceed it.
      return { now: now - before.now, peak: Math.max(now, peak) - before.now };
    });
  } finally {
    await browser.close();
  }
}

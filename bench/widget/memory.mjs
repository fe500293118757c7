// What the widget adds to the memory of the page's process: while it loads its model and answers the first question, and after it.
import { stat } from "node:fs/promises";
import { findRenderer } from "../browser/renderer.mjs";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { modelFolder } from "../../tests/lib/embedder.mjs";
import { HostPage } from "../../tests/lib/host-page.mjs";
import { median, round } from "../edge/lib/statistics.mjs";

const RUNS = 5;
const TIMEOUT_MS = 60_000;

export async function memory({ demo }) {
  const runs = [];
  while (runs.length < RUNS) runs.push(await firstVisit(demo));
  const middle = (name) => median(runs.map((run) => run[name]));
  const { size } = await stat(`${modelFolder()}/all-MiniLM-L6-v2-int8.safetensors`);
  return [
    ["memory_added_mib", round(middle("added"))],
    ["memory_added_peak_mib", round(middle("peak"))],
    ["memory_added_peak_of_model", round(middle("peak") / (size / 2 ** 20))],
  ];
}

async function firstVisit(demo) {
  const browser = await openBrowser();
  try {
    const host = await HostPage.prepare(browser.page, demo);
    await host.open({ token: await demo.newUser() });
    const renderer = await findRenderer(browser.page);
    const before = await renderer.memoryMib();
    await host.ask("Can I get my money back after two weeks?", TIMEOUT_MS);
    const { now, peak } = await renderer.memoryMib();
    // The kernel updates the peak late, so a reading can exceed it.
    return { added: now - before.now, peak: Math.max(now, peak) - before.now };
  } finally {
    await browser.close();
  }
}

// What the widget adds to the memory of the page's process: while it loads panel and model, and once it has answered a first question.
import { stat } from "node:fs/promises";
import { findRenderer } from "../browser/renderer.mjs";
import { openUnwatchedBrowser } from "../browser/unwatched-browser.mjs";
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
  const figures = [];
  for (const name of ["loading_peak", "answered", "peak"]) {
    const mib = middle(name);
    figures.push([`memory_${name}_mib`, round(mib)], [`memory_${name}_of_model`, round(mib / (size / 2 ** 20))]);
  }
  return figures;
}

async function firstVisit(demo) {
  const browser = await openUnwatchedBrowser();
  try {
    const host = await HostPage.prepare(await browser.newPage(), demo);
    await host.open({ token: await demo.newUser() });
    const renderer = await findRenderer(host.page);
    const before = await renderer.memoryMib();
    // The kernel updates the peak late, so a reading can exceed it.
    const added = ({ now, peak }) => Math.max(now, peak) - before.now;
    await host.ready();
    const loadingPeak = added(await renderer.memoryMib());
    await host.ask("Can I get my money back after two weeks?", TIMEOUT_MS);
    const answered = await renderer.memoryMib();
    return { loading_peak: loadingPeak, answered: answered.now - before.now, peak: added(answered) };
  } finally {
    await browser.close();
  }
}

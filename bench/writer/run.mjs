// Measures the writer in Chromium, in turns with wllama, and prints the figures as JSON; the program that reads them is
// bench/src/writer.rs. Environment: MODEL_FILE, CHROMIUM_PATH, TRIALS, and WLLAMA_DIR if wllama is measured.
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { findRenderer } from "../browser/renderer.mjs";
import { serve } from "../browser/server.mjs";

const repo = fileURLToPath(new URL("../../", import.meta.url));
const MAX_TOKENS = 64;
const LIMIT_MS = 300_000;

const { MODEL_FILE: model = "", TRIALS: trials, WLLAMA_DIR: wllama } = process.env;
const document = await readFile(`${repo}supabase/sample-kb/refunds.md`, "utf8");
const messages = [
  { role: "system", content: "Answer the question in one or two sentences, only with what the text says." },
  { role: "user", content: `${document.slice(0, 2000)}\n\nQuestion: Can I get my money back after two weeks?` },
];

const folder = await mkdtemp(join(tmpdir(), "evidence-chat-bench-"));
await symlink(model, join(folder, "model.gguf"));
const mounts = { "/page/": `${repo}bench/writer/page/`, "/ours/": `${repo}writer/npm/dist/`, "/model/": `${folder}/` };
const server = await serve(wllama ? { ...mounts, "/wllama/": `${wllama}/` } : mounts);
/** The writers, and what the names of their figures begin with. */
const writers = { ours: "", ...(wllama && { wllama: "wllama_" }) };
try {
  /** @type {Record<string, object[]>} */
  const measured = Object.fromEntries(Object.keys(writers).map((id) => [id, []]));
  const context = { model: basename(model), wllama: wllama && (await version(wllama)) };
  for (let trial = 1; trial <= Number(trials); trial++) {
    for (const [id, figures] of Object.entries(measured)) {
      process.stderr.write(`  ${id}, ${trial} of ${trials}\n`);
      figures.push(await measure(id, context));
    }
  }
  const figures = Object.entries(measured).flatMap(([id, all]) =>
    medians(all).map(([name, value]) => [writers[id] + name, value]),
  );
  console.log(JSON.stringify({ figures, context }));
} finally {
  server.close();
  await rm(folder, { recursive: true, force: true });
}

async function version(esm) {
  return JSON.parse(await readFile(join(esm, "../package.json"), "utf8")).version;
}

/** One load with an empty profile, one from the cache, and two texts, in a new browser. */
async function measure(id, about) {
  const browser = await openBrowser();
  try {
    const pages = browser.page.context();
    about.chromium = pages.browser()?.version();
    const openPage = async () => {
      const page = await pages.newPage();
      page.setDefaultTimeout(LIMIT_MS);
      await page.goto(`${server.origin}/page/index.html`);
      await page.waitForFunction(() => "load" in window);
      return page;
    };
    const first = await openPage();
    server.takeBytes();
    const coldMs = await first.evaluate((id) => window.load(id), id);
    const bytes = server.takeBytes();
    await first.close();

    const second = await openPage();
    const renderer = await findRenderer(second);
    const warmMs = await second.evaluate((id) => window.load(id), id);
    const loaded = await renderer.memoryMib();
    const write = (given, most) => second.evaluate(([given, most]) => window.write(given, most), [given, most]);
    // V8 compiles hot functions with its optimising compiler meanwhile.
    await write(messages.slice(1), 8);
    const before = await renderer.cpuMs();
    const { firstMs, lastMs, promptTokens, completionTokens } = await write(messages, MAX_TOKENS);
    const cpuMs = (await renderer.cpuMs()) - before;
    const used = await renderer.memoryMib();
    return {
      load_cold_ms: coldMs,
      load_warm_ms: warmMs,
      transferred_kb: bytes / 1000,
      prompt_tokens: promptTokens,
      first_token_ms: firstMs,
      prompt_tokens_per_second: (promptTokens / firstMs) * 1000,
      tokens_per_second: ((completionTokens - 1) / (lastMs - firstMs)) * 1000,
      text_cpu_ms: cpuMs,
      loaded_mib: loaded.now,
      // The kernel updates the peak late, so a reading can exceed it.
      peak_mib: Math.max(loaded.now, loaded.peak, used.now, used.peak),
    };
  } finally {
    await browser.close();
  }
}

/** The median of each figure. */
function medians(all) {
  return Object.keys(all[0]).map((name) => {
    const values = all.map((figures) => figures[name]).sort((a, b) => a - b);
    return [name, values[Math.floor(values.length / 2)]];
  });
}

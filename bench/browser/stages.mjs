// Times the parts of an embedding in Chromium: `node stages.mjs PLAN.json`. bench/src/embedder/stages.rs writes the plan and
// reads the result.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { serve } from "./server.mjs";

const plan = JSON.parse(await readFile(process.argv[2], "utf8"));
const server = await serve({ "/page/": fileURLToPath(new URL("page/", import.meta.url)), ...plan.mounts });
const browser = await openBrowser();
try {
  const { page } = browser;
  await page.goto(`${server.origin}/page/index.html`);
  await page.waitForFunction(() => "call" in window);
  await page.evaluate(() => window.start());
  const call = (command, ...args) =>
    page.evaluate(({ command, args }) => window.call(command, ...args), { command, args });
  await call("load", plan.adapter, {});
  /** @type {{ kernel: string, timings: unknown[] }} */
  const result = { kernel: await call("kernel"), timings: [] };
  // Gives V8 time to recompile hot functions with its optimising compiler.
  for (const { stage, text } of plan.requests) await call("stage", stage, text, 3);
  for (const { stage, text } of plan.requests) {
    const [firstMs] = await call("stage", stage, text, 3);
    const repeats = Math.ceil(plan.turnMs / Math.max(firstMs, plan.turnMs / 20_000));
    const turns = [];
    for (let turn = 0; turn < plan.turns; turn++) turns.push(await call("stage", stage, text, repeats));
    result.timings.push(turns.reduce((best, turn) => (turn[0] < best[0] ? turn : best)));
  }
  await writeFile(plan.result, JSON.stringify(result));
} finally {
  await browser.close();
  server.close();
}

// Measures the widget in Chromium on the running demo and prints the figures as JSON; the program that reads them is
// bench/src/widget.rs. Environment: QUESTIONS, EVIDENCE_MODEL_DIR, CHROMIUM_PATH, KB_BINARY, XTASK_BINARY.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { startDemo } from "../../tests/lib/demo.mjs";
import { firstWord } from "./first-word.mjs";
import { HostPage } from "../../tests/lib/host-page.mjs";
import { instantResults } from "./instant-results.mjs";
import { memory } from "./memory.mjs";
import { pageImpact } from "./page-impact.mjs";
import { phone } from "./phone.mjs";
import { renderCitations } from "./render.mjs";
import { restore } from "./restore.mjs";
import { sizes } from "./sizes.mjs";

const PARTS = { sizes, firstWord, instantResults, restore, renderCitations, pageImpact, memory };

const data = await mkdtemp(join(tmpdir(), "evidence-chat-bench-"));
const demo = await startDemo({ data });
const browser = await openBrowser();
try {
  const host = await HostPage.prepare(browser.page, demo);
  const figures = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    process.stderr.write(`  ${name}\n`);
    figures.push(...(await measure(host)));
  }
  process.stderr.write("  phone\n");
  const onPhone = await phone(host);
  figures.push(...onPhone.figures);
  console.log(JSON.stringify({ figures, context: { questions: Number(process.env.QUESTIONS), ...onPhone.context } }));
} finally {
  await browser.close();
  await demo.stop();
  await rm(data, { recursive: true, force: true });
}

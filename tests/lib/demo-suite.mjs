// The set-up of an end-to-end test file: one demo for all its tests, and one browser if they need it.
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { openBrowser } from "./browser.mjs";
import { startDemo } from "./demo.mjs";

/**
 * Starts the demo in a new data folder, and stops everything after the last test of the file.
 * @param {{ isEmpty?: boolean, options?: readonly string[], variables?: Record<string, string>, browser?: import("playwright-core").BrowserContextOptions }} [settings]
 *   `isEmpty` starts without the sample documents; `options` are further ones of `cargo xtask demo`; `variables` are those of the Worker; `browser` are those of a
 *   browser, which is only opened if they are given
 */
export async function startDemoSuite({ isEmpty = false, options, variables, browser: browserOptions } = {}) {
  const data = await mkdtemp(join(tmpdir(), "evidence-chat-"));
  let demo, browser;
  const stop = async () => {
    await browser?.close();
    await demo?.stop();
    await rm(data, { recursive: true, force: true });
  };
  try {
    const kb = isEmpty ? join(data, "empty") : undefined;
    if (kb) await mkdir(kb);
    else await copySampleData(data);
    demo = await startDemo({ data, kb, options, variables });
    if (browserOptions) browser = await openBrowser(browserOptions);
  } catch (error) {
    await stop();
    throw error;
  }
  after(stop);
  return { data, demo, page: browser?.page };
}

/**
 * Copies the data folder of a demo that has read the sample documents, so that each file need not embed them again.
 * `SAMPLE_DEMO_DATA` names the folder, which the first file makes; `cargo xtask test` removes it before each run.
 */
async function copySampleData(data) {
  const sample = process.env.SAMPLE_DEMO_DATA;
  if (!sample) return;
  if (!existsSync(sample)) {
    const partial = await mkdtemp(`${sample}-`);
    const demo = await startDemo({ data: partial });
    await demo.stop();
    // Another file may have been faster.
    await rename(partial, sample).catch(() => rm(partial, { recursive: true }));
  }
  await cp(sample, data, { recursive: true });
}

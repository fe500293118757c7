// Chromium with a new profile.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

// The browser must not send requests of its own: tests must give the same result without a network.
const ARGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Chromium treats the invented pages of a test as public ones, which may not reach servers of this machine.
  "--disable-features=LocalNetworkAccessChecks",
];

/** Opens a browser with one page; `page.errors` collects its errors. */
export async function openBrowser(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), "evidence-chat-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM_PATH,
    headless: true,
    chromiumSandbox: false,
    args: ARGS,
    viewport: { width: 1280, height: 900 },
    ...options,
  });
  const page = collectErrors(context.pages()[0] ?? (await context.newPage()));
  return {
    page,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/**
 * Collects uncaught errors and violations of the page's Content Security Policy in `page.errors`. Other lines of the
 * console do not count: Chromium logs each failed request there, including those that a test provokes.
 */
export function collectErrors(page) {
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => {
    const text = message.text();
    if (message.type() === "error" && text.includes("Content Security Policy")) page.errors.push(text);
  });
  return page;
}

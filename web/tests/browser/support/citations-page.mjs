// A page under a strict Content Security Policy with Trusted Types that shows answers and their sources.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { openBrowser } from "../../../../tests/lib/browser.mjs";
import { aliases } from "../../../build/aliases.mjs";
import { styleSheetsAsText } from "../../../build/style-sheets-as-text.mjs";

const ORIGIN = "http://widget.test";
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const bundle = build({
  entryPoints: [fileURLToPath(new URL("citations-entry.mjs", import.meta.url))],
  bundle: true,
  alias: aliases,
  write: false,
  format: "esm",
  target: "es2022",
  minify: true,
  plugins: [styleSheetsAsText],
  logLevel: "warning",
});

/**
 * Opens the page; `page.requests` collects all requests. The clock is stopped unless a test advances it.
 * @param {import("playwright-core").BrowserContextOptions & { frozen?: boolean }} [options]
 */
export async function openCitationsPage({ frozen = true, ...options } = {}) {
  const { outputFiles } = await bundle;
  const browser = await openBrowser({ viewport: { width: 700, height: 700 }, ...options });
  const { page } = browser;
  page.requests = [];
  const answers = {
    "/": {
      contentType: "text/html",
      headers: { "content-security-policy": POLICY },
      body: '<!doctype html><html lang="en"><title>Citations</title><p id="before">Before</p><div id="host"></div><script type="module" src="/widget.js"></script>',
    },
    "/widget.js": { contentType: "text/javascript", body: outputFiles[0].text },
  };
  await page.route("**", (route) => {
    const url = new URL(route.request().url());
    const answer = url.origin === ORIGIN ? answers[url.pathname] : undefined;
    if (answer) return route.fulfill(answer);
    page.requests.push(url.href);
    return route.abort();
  });
  if (frozen) await page.clock.install();
  await page.goto(`${ORIGIN}/`);
  await page.waitForFunction("globalThis.widget");
  if (frozen) await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
  page.requests.length = 0;
  return browser;
}

/** A passage that is quoted as a whole, unless `fields` say otherwise. */
export function passage(index, excerpt, fields = {}) {
  return {
    index,
    chunk_id: `chunk-${index}`,
    document_id: `document-${index}`,
    title: `Document ${index}`,
    score: 0.71,
    strength: "strong",
    excerpt,
    quotes: [{ start: 0, end: excerpt.length, text: excerpt }],
    ...fields,
  };
}

/** A passage with one quoted sentence. */
export function quoting(index, excerpt, sentence, fields = {}) {
  const start = excerpt.indexOf(sentence);
  return passage(index, excerpt, { quotes: [{ start, end: start + sentence.length, text: sentence }], ...fields });
}

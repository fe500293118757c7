// The page of entry.mjs: answers and their sources.
import { BROWSER } from "../../../../../tests/lib/browser.mjs";
import { quoteOf } from "../../support/answers.mjs";
import { startPageSite } from "../../support/page-site.mjs";

export function startCitationsSite() {
  return startPageSite(new URL("entry.mjs", import.meta.url), {
    html: '<!doctype html><html lang="en"><title>Citations</title><p id="before">Before</p><div id="host"></div>',
  });
}

/** The viewport of a desktop browser. */
export const VIEWPORT = { width: 700, height: 700 };

/** Opens the page; `page.requests` collects all requests to other addresses. The clock is stopped unless a test advances it. */
export async function openCitationsPage(page, site, { isFrozen = true } = {}) {
  page.requests = [];
  // WebDriver does not report the requests of a page.
  const watch = BROWSER === "webkit" ? async () => {} : page.route.bind(page);
  await watch("**", (route) => {
    const { href, origin, pathname } = new URL(route.request().url());
    if (origin === site.origin && (pathname === "/" || pathname.endsWith(".js"))) return route.continue();
    page.requests.push(href);
    return route.abort();
  });
  if (isFrozen) await page.clock.install();
  await page.goto(site.origin);
  await page.locator("html[data-ready]").waitFor({ state: "attached" });
  if (isFrozen) await page.clock.pauseAt(new Date(Date.now() + 3_600_000));
  page.requests.length = 0;
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
    quotes: [quoteOf(excerpt)],
    ...fields,
  };
}

/** A passage with one quoted sentence. */
export function quoting(index, excerpt, sentence, fields = {}) {
  return passage(index, excerpt, { quotes: [quoteOf(excerpt, sentence)], ...fields });
}

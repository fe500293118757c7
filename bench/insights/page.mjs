// The time of the insights page in Chromium: from the choice of a period to the frame that shows a section.
import { signInToInsights } from "../../tests/lib/insights-site.mjs";
import { percentiles } from "./percentiles.mjs";

/** Stands for the whole page; the sections have the names of their headings. */
const ALL = "All sections";

/**
 * Signs in on the page and chooses each period with each assistant, in turns.
 * @param {import("playwright-core").Page} page
 * @param {Awaited<ReturnType<typeof import("../../tests/lib/insights-site.mjs").startInsightsSite>>} site
 * @param {{ windows: number[], assistants: (string | null)[], runs: number }} options
 * @returns {Promise<{ section: string, days: number, assistant: string | null, ms: { p50: number, p95: number } }[]>}
 */
export async function timePage(page, site, { windows, assistants, runs }) {
  await signInToInsights(page, site, site.administrator);
  const isComplete = () => page.locator(".sections:not([aria-busy])").waitFor();
  await isComplete();

  const views = new Map();
  // The first turn warms up.
  for (let run = -1; run < runs; run++) {
    for (const assistant of assistants) {
      await page.getByLabel("Assistant").selectOption(assistant ?? "");
      await isComplete();
      // Every measured choice is a change.
      await page.getByRole("radio", { name: `${windows.at(-1)} days`, exact: true }).check();
      await isComplete();
      for (const days of windows) {
        const times = await page.evaluate(choosePeriod, { days, all: ALL });
        if (run < 0) continue;
        for (const [section, ms] of Object.entries(times)) {
          const name = JSON.stringify([section, days, assistant]);
          views.set(name, [...(views.get(name) ?? []), ms]);
        }
      }
    }
  }
  return [...views].map(([name, times]) => {
    const [section, days, assistant] = JSON.parse(name);
    return { section, days, assistant, ms: percentiles(times) };
  });
}

/**
 * Runs in the page: chooses a period, and gives the milliseconds until each section is on the screen.
 * @param {{ days: number, all: string }} choice
 * @returns {Promise<Record<string, number>>}
 */
function choosePeriod({ days, all }) {
  return new Promise((resolve, reject) => {
    /** @type {Record<string, number>} */
    const times = {};
    const started = performance.now();
    // The task after the next frame: by then, what was changed is on the screen.
    const whenShown = (done) => requestAnimationFrame(() => setTimeout(() => done()));
    const record = (name) => whenShown(() => (times[name] = performance.now() - started));
    document.getElementById(`days-${days}`)?.click();
    const place = /** @type {Element} */ (document.querySelector(".sections"));
    if (place.ariaBusy !== "true") reject(new Error("the page did not begin to read"));
    for (const section of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll(":scope > section"))) {
      const name = section.querySelector("h2")?.textContent ?? "";
      const observer = new MutationObserver(() => {
        if (section.dataset.state === "failed") reject(new Error(`${name}: ${section.textContent}`));
        if (section.dataset.state === "shown") record(name);
      });
      observer.observe(section, { attributeFilter: ["data-state"] });
    }
    new MutationObserver(() => {
      record(all);
      whenShown(() => resolve(times));
    }).observe(place, { attributeFilter: ["aria-busy"] });
  });
}

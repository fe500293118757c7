// Pictures of the insights page, with the figures of insights-data.mjs.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { signInToInsights, startInsightsSite } from "../lib/insights-site.mjs";
import { fillInsights } from "./insights-data.mjs";
import { sideBySide } from "./side-by-side.mjs";

const VARIANTS = [
  { colorScheme: "light", width: 900 },
  { colorScheme: "dark", width: 900 },
  { colorScheme: "light", width: 320 },
];
const HEIGHT = 1200;
/** Of states with little on them. */
const SMALL = 460;
/** Of the picture in the documentation. */
const PRODUCT = { width: 1000, height: 960 };

const scrollTo = (heading) => async (page) => {
  await page.getByRole("heading", { level: 2, name: heading }).evaluate((node) => node.scrollIntoView());
};

/**
 * `user`: who signs in; `isFilled`: with figures; `height`: of the picture; `prepare`: what is done on the complete page.
 * @type {Record<string, { isFilled: boolean, user?: string, height?: number, prepare?: (page: any) => Promise<void> }>}
 */
export const INSIGHTS_STATES = {
  "insights-sign-in": { isFilled: false, height: SMALL },
  "insights-forbidden": { isFilled: false, user: "visitor", height: SMALL },
  "insights-empty": { isFilled: false, user: "administrator" },
  insights: { isFilled: true, user: "administrator" },
  "insights-feedback": { isFilled: true, user: "administrator", prepare: scrollTo("Feedback") },
  "insights-gaps": {
    isFilled: true,
    user: "administrator",
    async prepare(page) {
      await page.locator(".gap summary").first().click();
      await scrollTo("Questions without a good answer")(page);
    },
  },
  "insights-documents": { isFilled: true, user: "administrator", prepare: scrollTo("Documents that are cited most") },
};

/**
 * Takes the pictures of the states with these names.
 * @param {import("playwright-core").Page} page
 * @param {string[]} names
 * @param {{ states: string, product: string }} folders
 */
export async function takeInsights(page, names, folders) {
  const site = await startInsightsSite();
  try {
    const users = { administrator: site.administrator, visitor: await site.signUp("visitor@example.com") };
    let isFilled = false;
    for (const [name, state] of Object.entries(INSIGHTS_STATES)) {
      if (!names.includes(name)) continue;
      process.stderr.write(`  ${name}\n`);
      if (state.isFilled && !isFilled) await fillInsights(site);
      isFilled ||= state.isFilled;
      const pictures = [];
      for (const { colorScheme, width } of VARIANTS) {
        await show(
          page,
          site,
          { ...state, user: users[state.user] },
          { colorScheme, width, height: state.height ?? HEIGHT },
        );
        pictures.push(await page.screenshot());
      }
      if (name === "insights") {
        await show(page, site, { user: users.administrator }, { colorScheme: "light", ...PRODUCT });
        await writeFile(join(folders.product, "insights.png"), await page.screenshot());
      }
      await sideBySide(page, pictures, join(folders.states, `${name}.webp`));
    }
  } finally {
    await page.emulateMedia({ colorScheme: null });
    await site.close();
  }
}

/**
 * @param {import("playwright-core").Page} page
 * @param {{ origin: string }} site
 * @param {{ user?: any, prepare?: (page: any) => Promise<void> }} state
 * @param {{ colorScheme: any, width: number, height: number }} variant
 */
async function show(page, site, { user, prepare }, { colorScheme, width, height }) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize({ width, height });
  // A file that does not use the session, which ends here.
  await page.goto(`${site.origin}/insights/icon.svg`);
  await page.evaluate(() => sessionStorage.clear());
  if (user) {
    await signInToInsights(page, site, user);
    await page.locator("body[data-state=forbidden], .sections:not([aria-busy])").waitFor();
  } else {
    await page.goto(`${site.origin}/insights/`);
    await page.locator("body[data-state=sign-in]").waitFor();
  }
  await prepare?.(page);
  await page.waitForTimeout(300);
}

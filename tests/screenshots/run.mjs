// Takes screenshots of the running product: every state of the widget in light, dark, Arabic and at 320 pixels, side by side,
// into web/docs/, and those of the insights page. Also records an animation of the demo page into docs/, which needs ffmpeg. `cargo xtask screenshots` builds the
// product and runs this. Environment: EVIDENCE_MODEL_DIR, CHROMIUM_PATH, KB_BINARY, XTASK_BINARY, and optionally ONLY, the states to
// take, separated by commas.
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "../lib/browser.mjs";
import { startDemo } from "../lib/demo.mjs";
import { HostPage } from "../lib/host-page.mjs";
import { Widget } from "../lib/widget.mjs";
import { animation } from "./animation.mjs";
import { INSIGHTS_STATES, takeInsights } from "./insights.mjs";
import { sideBySide } from "./side-by-side.mjs";
import { STATES } from "./states.mjs";

const PICTURES = fileURLToPath(new URL("../../web/docs/", import.meta.url));
const PRODUCT = fileURLToPath(new URL("../../docs/", import.meta.url));

const VARIANTS = [
  { name: "light", attributes: { theme: "light" }, width: 460 },
  { name: "dark", attributes: { theme: "dark" }, width: 460 },
  { name: "arabic", attributes: { theme: "light", lang: "ar" }, width: 460 },
  { name: "320px", attributes: { theme: "light" }, width: 320 },
];
const HEIGHT = 660;

const only = process.env.ONLY?.split(",");
const wanted = (names) => names.filter((name) => !only || only.includes(name));

const browser = await openBrowser({ reducedMotion: "reduce" });
try {
  await mkdir(PICTURES, { recursive: true });
  const ofInsights = wanted(Object.keys(INSIGHTS_STATES));
  if (ofInsights.length > 0) await takeInsights(browser.page, ofInsights, { states: PICTURES, product: PRODUCT });
  const ofWidget = wanted(["animation", ...Object.keys(STATES)]);
  if (ofWidget.length > 0) await takeWidget(browser, ofWidget);
} finally {
  await browser.close();
}

async function takeWidget(browser, names) {
  const data = await mkdtemp(join(tmpdir(), "evidence-chat-screenshots-"));
  const demo = await startDemo({ data });
  try {
    const host = await HostPage.prepare(browser.page, demo);
    for (const name of names) {
      process.stderr.write(`  ${name}\n`);
      if (name === "animation") {
        await animation(host, { file: join(PRODUCT, "demo.gif"), still: join(PRODUCT, "answer.png") });
        continue;
      }
      const pictures = [];
      for (const variant of VARIANTS) pictures.push(await picture(host, STATES[name], variant));
      await sideBySide(browser.page, pictures, join(PICTURES, `${name}.webp`));
    }
  } finally {
    await demo.stop();
    await rm(data, { recursive: true, force: true });
  }
}

/** One state in one variant, on a new page with a new user. */
async function picture(host, { prepare, attributes = {}, model = "cached" }, variant) {
  const { page } = host;
  await page.setViewportSize({ width: variant.width, height: HEIGHT });
  if (model === "none") {
    await page.goto(`${host.origin}/host/blank`);
    await page.evaluate(() => caches.delete("evidence-chat-embedder"));
  }
  await host.open({
    token: await host.demo.newUser(),
    attributes: { ...variant.attributes, ...attributes },
    isDark: variant.name === "dark",
  });
  // A picture of the hint is one of the states.
  await page.evaluate(() => localStorage.setItem("evidence-chat:hint", "shown"));
  const widget = new Widget(page);
  const cleanUp = await prepare({ host, page, widget, demo: host.demo });
  await page.waitForTimeout(300);
  const image = await page.screenshot();
  await cleanUp?.();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await host.route();
  return image;
}

// A browser with a new profile: Chromium, or the one that TEST_BROWSER names.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "./playwright.mjs";
import { launchFirefox } from "./firefox.mjs";
import { launchWebKit } from "./webkit/launch.mjs";

/** The browser of these tests. */
export const BROWSER = process.env.TEST_BROWSER ?? "chromium";

/** For Chromium. It must not send requests of its own: tests must give the same result without a network. */
export const ARGS = [
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Chromium treats the invented pages of a test as public ones, which may not reach servers of this machine.
  "--disable-features=LocalNetworkAccessChecks",
];

/** Names a Content Security Policy in the words of any browser. */
export const POLICY = /Content[- ]Security[- ]Policy/;

const LAUNCH = { chromium: launchChromium, firefox: launchFirefox, webkit: launchWebKit };

function launchChromium(profile, options) {
  return chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM_PATH,
    headless: true,
    chromiumSandbox: false,
    args: ARGS,
    ...options,
  });
}

/** Opens a browser with one page; `page.errors` collects its errors. */
export async function openBrowser(options = {}, browser = BROWSER) {
  const profile = await mkdtemp(join(tmpdir(), "evidence-chat-browser-"));
  const context = await LAUNCH[browser](profile, { viewport: { width: 1280, height: 900 }, ...options });
  if (browser !== "chromium") context.on("page", refuseUnsupported).pages().forEach(refuseUnsupported);
  const page = collectErrors(context.pages()[0] ?? (await context.newPage()));
  if (browser === "webkit") trimInnerTexts(page);
  if (browser !== "chromium") emptyBeforeFilling(page);
  return {
    page,
    async close() {
      await context.close();
      // The last processes of a browser may still write.
      await rm(profile, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** Makes the page throw at once what the drivers of these browsers cannot do, instead of waiting for it in vain. */
function refuseUnsupported(page) {
  // Media features cannot change in an open page; `openBrowser` can set `reducedMotion`.
  page.emulateMedia = async (features) => {
    const [feature] = Object.entries(features).find(([, value]) => value !== null) ?? [];
    if (feature) throw unsupported(`emulation of ${feature}`);
  };
  const waitForEvent = page.waitForEvent.bind(page);
  page.waitForEvent = (event, ...options) => {
    if (event === "download") throw unsupported("event for downloads");
    return waitForEvent(event, ...options);
  };
}

/** WebKit ends the inner text of a block with a line break. */
function trimInnerTexts(page) {
  const locator = Object.getPrototypeOf(page.locator("html"));
  const { innerText, allInnerTexts } = locator;
  locator.innerText = async function (...options) {
    return (await innerText.apply(this, options)).trim();
  };
  locator.allInnerTexts = async function () {
    return (await allInnerTexts.apply(this)).map((text) => text.trim());
  };
}

/** Outside Chromium, Playwright cannot select what is in some fields, and would only add to it. */
function emptyBeforeFilling(page) {
  const locator = Object.getPrototypeOf(page.locator("html"));
  const { fill } = locator;
  locator.fill = async function (value, options) {
    const empty = (field) => {
      if (field.matches("[type=email], [type=number]")) field.value = "";
    };
    await this.evaluate(empty, undefined, options);
    return fill.call(this, value, options);
  };
}

/** An error like those of the drivers. */
const unsupported = (feature) => new Error(`unsupported operation\nMessage: ${feature}`);

/**
 * Collects uncaught errors and violations of the page's Content Security Policy in `page.errors`. Other lines of the
 * console do not count: Chromium logs each failed request there, including those that a test provokes.
 */
export function collectErrors(page) {
  page.errors = [];
  page.on("pageerror", (error) => {
    // Firefox reports failed requests like uncaught errors.
    if (!/^(Cross-Origin Request Blocked|Loading module from |None of the “sha\d+” hashes )/.test(String(error)))
      page.errors.push(String(error));
  });
  page.on("console", (message) => {
    const text = message.text();
    const isViolation = message.type() === "error" && POLICY.test(text);
    // Some browsers look for an icon that no page of the tests names.
    if (isViolation && !text.includes("/favicon.ico")) page.errors.push(text);
  });
  return page;
}

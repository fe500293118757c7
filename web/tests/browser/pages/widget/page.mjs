// The page as a visitor sees it, and the widget's parts by their data-role.
import assert from "node:assert/strict";
import { collectErrors } from "../../../../../tests/lib/browser.mjs";

const TIMEOUT_MS = 30_000;
const EVENTS = ["ready", "message", "refusal", "citation-open", "stage", "error"];

/** The policy of the README, with Trusted Types. `more` are additional sources by directive. */
export function strictPolicy(api, more = {}) {
  const added = (directive) => (more[directive] ?? []).map((source) => ` ${source}`).join("");
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval'${added("script-src")}`,
    "style-src 'self'",
    `worker-src 'self'${added("worker-src")}`,
    `connect-src 'self' ${api.origin}${added("connect-src")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types evidence-chat-embedder",
  ].join("; ");
}

/** The markup of a widget; `true` sets an attribute without value, `null` omits it. */
export function markup(site, attributes = {}, content = "") {
  const all = { endpoint: site.api.endpoint, "model-url": "/model/", ...attributes };
  const given = Object.entries(all).filter(([, value]) => value !== null);
  const pairs = given.map(([name, value]) => (value === true ? name : `${name}="${value}"`));
  return `<evidence-chat ${pairs.join(" ")}>${content}</evidence-chat>`;
}

/**
 * Opens a new page of the browser with the widget on it, under the strict policy unless another is given (`null`: none).
 * At the end of the test it is closed, and must have had no uncaught error and no violation of the policy.
 *
 * @param {{attributes?: object, content?: string, body?: string, csp?: string | null, token?: string | null,
 *   init?: Function, setUp?: (page: import("playwright-core").Page) => Promise<void>}} options `body` replaces the whole
 *   markup, `init` runs in the page before anything else, `setUp` gets the page before it navigates
 */
export async function openWidgetPage(t, browser, site, options = {}) {
  const { attributes, content, token = tokenFor("visitor"), init, setUp } = options;
  site.body = options.body ?? markup(site, attributes, content);
  site.csp = options.csp === null ? undefined : (options.csp ?? strictPolicy(site.api));
  site.requests.length = 0;
  const page = collectErrors(await browser.page.context().newPage());
  page.setDefaultTimeout(TIMEOUT_MS);
  // Includes requests that never reach a server.
  const urls = [];
  page.on("request", (request) => urls.push(request.url()));
  t.after(async () => {
    await page.close();
    assert.deepEqual(page.errors, []);
  });
  await page.addInitScript(watch, EVENTS);
  await page.addInitScript((value) => {
    // An empty page has no storage.
    if (value !== null && origin !== "null") sessionStorage.setItem("token", value);
  }, token);
  if (init) await page.addInitScript(init);
  await setUp?.(page);
  await page.goto(site.origin);
  return new WidgetPage(page, urls);
}

/** A token of that user, with the claims that the widget reads. */
export function tokenFor(user) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "none" })}.${part({ sub: user })}.signature`;
}

class WidgetPage {
  constructor(page, urls) {
    this.page = page;
    /** URLs of all requests of the page's thread. */
    this.urls = urls;
    this.element = page.locator("evidence-chat").first();
  }

  /** All parts with that role. */
  all(role) {
    return this.element.locator(`[data-role="${role}"]`);
  }

  /** The last part with that role. */
  role(role) {
    return this.all(role).last();
  }

  /** Waits until the last reply is in that state. */
  async reply(state) {
    const reply = this.role("assistant").and(this.page.locator(`[data-state="${state}"]`));
    await reply.waitFor();
    return reply;
  }

  /** Types a question and waits until the reply is in that state. */
  async ask(question, state = "done") {
    const count = await this.all("assistant").count();
    await this.role("input").fill(question);
    await this.role("input").press("Enter");
    await this.all("assistant").nth(count).waitFor();
    return this.reply(state);
  }

  /** Opens the card of a badge by keyboard. */
  async openCard(badge) {
    await badge.focus();
    // A focus that keys have moved is visible, which opens the card.
    await this.page.keyboard.press("Shift+Tab");
    await this.page.keyboard.press("Tab");
    await this.element.locator("[data-role=citation-card][data-open]").waitFor();
    return this.role("citation-card");
  }

  /** Waits until the element is in that state. */
  async becomes(state) {
    await this.page.locator(`evidence-chat[data-state="${state}"]`).first().waitFor();
  }

  /** The dispatched events: `{type, detail}`, with details reduced to JSON. */
  async events(type) {
    const events = await this.page.evaluate(() => globalThis.widgetEvents);
    return type === undefined ? events : events.filter((event) => event.type === type);
  }

  /** Calls a method of the element; waits for what it returns, as long as for a part of the page. */
  async call(method, ...args) {
    const returned = this.element.evaluate((element, [name, given]) => element[name](...given), [method, args]);
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${method}() has not returned`)), TIMEOUT_MS);
    });
    return Promise.race([returned, late]).finally(() => clearTimeout(timer));
  }

  /** Waits for a condition instead of a fixed time. */
  async until(condition, what) {
    const deadline = Date.now() + TIMEOUT_MS;
    while (!(await condition())) {
      assert.ok(Date.now() < deadline, `timed out waiting for: ${what}`);
      await this.page.waitForTimeout(20);
    }
  }
}

/** Runs in the page: collects the element's events, and turns policy violations into page errors. */
function watch(types) {
  globalThis.widgetEvents = [];
  for (const type of types) {
    // The events do not bubble, but the capture phase sees them.
    addEventListener(
      type,
      ({ target, detail }) => {
        if (target?.localName !== "evidence-chat") return;
        widgetEvents.push({ type, detail: JSON.parse(JSON.stringify(detail)) });
      },
      true,
    );
  }
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
    console.error(`Content Security Policy: ${violatedDirective} ${blockedURI} ${sample}`),
  );
}

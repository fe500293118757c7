// Visitors without an account: the widget signs them in. Real Chromium and embedder, simulated API, Supabase Auth and Turnstile.
import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startAuthServer } from "../auth-server.mjs";
import { answer, failure, gate, json, refusal, result, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { strictPolicy, tokenFor } from "./pages/widget/page.mjs";

const KEY = "sb_publishable_test";

const { site, open, sent } = await startWidgetSuite();
/** @type {any} */
let auth;

beforeEach(async () => {
  await auth?.close();
  auth = await startAuthServer((user, serial) => `${tokenFor(user)}${serial}`);
});
after(() => auth?.close());

/** Opens a page that sets no token provider. */
const visit = (t, /** @type {any} */ { attributes = ownAttributes(), csp = policy(), ...options } = {}) =>
  open(t, {
    attributes,
    csp,
    ...options,
    setUp: async (page) => {
      await page.route("**/page.js", (route) => route.fulfill({ contentType: "text/javascript", body: "" }));
      await options.setUp?.(page);
    },
  });
const ownAttributes = () => ({ "supabase-url": auth.url, "supabase-key": KEY });
const policy = (more = {}) => strictPolicy(site.api, { "connect-src": [auth.url], ...more });
const tokensSent = () => site.api.questions().map(({ headers }) => headers.authorization);
const paths = () => auth.requests.map(({ path }) => path);

test("the tag with supabase-url and supabase-key signs the visitor in with the first question, and not before", async (t) => {
  const widget = await visit(t);
  await widget.role("input").focus();
  await widget.becomes("ready");
  assert.deepEqual(paths(), []);
  assert.ok(!widget.urls.some((url) => url.includes("/visitor-")), "its code is not loaded either");
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  assert.deepEqual(paths(), ["/auth/v1/signup"]);
  assert.equal(auth.requests[0].headers.apikey, KEY);
  assert.deepEqual(tokensSent(), [`Bearer ${tokenFor("user-1")}1`]);

  await widget.page.reload();
  await widget.ask("And now?");
  assert.deepEqual(paths(), ["/auth/v1/signup"], "the session is kept");
});

test("typing signs no visitor in; results show after the first question, and on later visits while the first one is typed", async (t) => {
  site.api.search = json(200, { results: [result()] });
  const widget = await visit(t);
  const type = async () => {
    await widget.role("input").focus();
    await widget.becomes("ready");
    await widget.role("input").pressSequentially("when are refunds pai", { delay: 30 });
  };
  await type();
  // The pause of the last key has passed.
  await sleep(1000);
  assert.deepEqual([site.api.searches, paths(), await widget.role("results").isVisible()], [[], [], false]);
  await widget.role("input").fill("");
  await widget.ask(QUESTION);
  await type();
  await widget.role("result").waitFor();
  assert.deepEqual(paths(), ["/auth/v1/signup"]);
  assert.equal(site.api.searches.at(-1).headers.authorization, tokensSent()[0]);

  await widget.page.reload();
  await type();
  await widget.role("result").waitFor();
  assert.deepEqual(paths(), ["/auth/v1/signup"]);
});

test("without attributes, the settings of the site say where visitors are signed in", async (t) => {
  site.api.config = { ...site.api.config, anonymous: { supabase_url: auth.url, publishable_key: KEY } };
  const widget = await visit(t, { attributes: {} });
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  assert.equal(auth.requests[0].headers.apikey, KEY);
});

test("another server gets another visitor, although it names the same project and the same page asks it", async (t) => {
  site.api.config = { ...site.api.config, anonymous: { supabase_url: auth.url, publishable_key: KEY } };
  const other = site.api.endpoint.replace("127.0.0.1", "localhost");
  const widget = await visit(t, { attributes: {}, csp: policy({ "connect-src": [auth.url, new URL(other).origin] }) });
  await widget.ask(QUESTION);
  await widget.element.evaluate((element, url) => (element.endpoint = url), other);
  await widget.ask("And now?");
  await widget.element.evaluate((element, url) => (element.endpoint = url), site.api.endpoint);
  await widget.ask("And again?");
  const [first, second] = [`Bearer ${tokenFor("user-1")}1`, `Bearer ${tokenFor("user-2")}2`];
  assert.deepEqual(tokensSent(), [first, second, first]);
});

test("without attributes and settings, visitors are asked to sign in", async (t) => {
  const widget = await visit(t, { attributes: {} });
  await widget.ask(QUESTION, "failed");
  assert.match(await widget.role("error-message").innerText(), /sign in/);
  assert.deepEqual([sent(), paths()], [[], []]);
});

test("a token provider of the page takes precedence", async (t) => {
  const widget = await open(t, { attributes: ownAttributes(), csp: policy() });
  await widget.ask(QUESTION);
  assert.deepEqual(tokensSent(), [`Bearer ${tokenFor("visitor")}`]);
  assert.deepEqual(paths(), []);
});

for (const clears of [false, true]) {
  test(`who signs out of the page is signed in again with the next question${clears ? ", also after clear()" : ""}`, async (t) => {
    const widget = await open(t, { attributes: ownAttributes(), csp: policy() });
    await widget.ask("A private question?");
    await widget.element.evaluate((element, clears) => {
      if (clears) element.clear();
      element.tokenProvider = undefined;
      dispatchEvent(new Event("focus"));
    }, clears);
    await widget.role("input").pressSequentially("How");
    await sleep(300);
    assert.deepEqual(paths(), []);
    await widget.ask(QUESTION);
    assert.deepEqual(paths(), ["/auth/v1/signup"]);
    assert.deepEqual(await widget.all("user").allInnerTexts(), [QUESTION]);
    assert.equal(tokensSent()[1], `Bearer ${tokenFor("user-1")}1`);
  });
}

test("what a visitor without an account has asked disappears as soon as the page signs a user in", async (t) => {
  const widget = await visit(t);
  await widget.ask("A private question?");
  await widget.element.evaluate((element, token) => (element.tokenProvider = async () => token), tokenFor("alice"));
  await widget.until(async () => (await widget.all("user").count()) === 0, "the chat is empty");
  await widget.ask(QUESTION);
  assert.equal(tokensSent()[1], `Bearer ${tokenFor("alice")}`);
});

test("what a visitor without an account types stays when the page signs a user in, but not a question that the widget suggests", async (t) => {
  site.api.search = json(200, { results: [result()] });
  const signIn = (widget, user) =>
    widget.element.evaluate((element, token) => (element.tokenProvider = async () => token), tokenFor(user));
  const emptied = (widget) => widget.until(async () => (await widget.all("user").count()) === 0, "the chat is empty");
  const widget = await visit(t);
  await widget.ask("A private question?");
  await widget.role("input").pressSequentially("Whose turn is ");
  await widget.until(() => site.api.searches.length > 0, "a request of the visitor");
  await signIn(widget, "alice");
  await emptied(widget);
  assert.equal(await widget.role("input").inputValue(), "Whose turn is ");
  await widget.role("input").pressSequentially("it?");
  await widget.role("input").press("Enter");
  await widget.reply("done");
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?"]);
  assert.equal(tokensSent()[1], `Bearer ${tokenFor("alice")}`);

  const other = await visit(t);
  site.api.respondWith(whole(refusal()));
  await other.ask("A private question?", "refused");
  await other.element.getByRole("button", { name: "Rephrase" }).click();
  await signIn(other, "bob");
  await emptied(other);
  assert.equal(await other.role("input").inputValue(), "");
});

test("a question is the user's whom the page signs in while the visitor is being signed in without an account", async (t) => {
  const { opened, open: release } = gate();
  auth.answer = async (reply) => {
    await opened;
    reply(200, { access_token: tokenFor("user-1"), refresh_token: "r", expires_in: 3600, user: { id: "user-1" } });
  };
  const widget = await visit(t);
  await widget.role("input").focus();
  await widget.becomes("ready");
  await widget.ask("Whose turn is it?", "pending");
  await widget.until(() => paths().length > 0, "the sign-up");
  await widget.element.evaluate((element, token) => (element.tokenProvider = async () => token), tokenFor("alice"));
  await sleep(100);
  release();
  await widget.reply("done");
  await widget.ask(QUESTION);
  assert.deepEqual(tokensSent(), Array(2).fill(`Bearer ${tokenFor("alice")}`));
  assert.deepEqual(await widget.all("user").allInnerTexts(), ["Whose turn is it?", QUESTION]);
});

test("two tabs that ask at once sign in once and are the same user", async (t) => {
  const [first, second] = [await visit(t), await visit(t)];
  await first.page.evaluate(() => localStorage.clear());
  await Promise.all([first.ask(QUESTION), second.ask(QUESTION)]);
  assert.deepEqual(paths(), ["/auth/v1/signup"]);
  assert.equal(new Set(tokensSent()).size, 1);
});

test("with blocked storage the visitor is signed in for the page", async (t) => {
  const init = () => {
    Object.defineProperty(globalThis, "localStorage", {
      get() {
        throw new DOMException("blocked", "SecurityError");
      },
    });
    // As in Chromium with cookies blocked. The blank page before the site is no secure context, which alone has locks.
    if (navigator.locks) navigator.locks.request = () => Promise.reject(new DOMException("blocked", "SecurityError"));
  };
  const widget = await visit(t, { init });
  await widget.ask(QUESTION);
  await widget.ask("Another question?");
  assert.deepEqual(paths(), ["/auth/v1/signup"]);

  await widget.call("clear");
  await widget.role("input").pressSequentially("when are refunds paid");
  await widget.until(() => site.api.searches.length > 0, "a search");
  assert.equal(site.api.searches.at(-1).headers.authorization, tokensSent()[0]);
});

test("in an app without localStorage the visitor is signed in for the page", async (t) => {
  const init = () => Object.defineProperty(globalThis, "localStorage", { value: null });
  const widget = await visit(t, { init });
  await widget.ask(QUESTION);
  await widget.ask("Another question?");
  assert.deepEqual(paths(), ["/auth/v1/signup"]);
});

test("a token that the server rejects is renewed, and the question is answered", async (t) => {
  const widget = await visit(t);
  await widget.ask(QUESTION);
  site.api.respondWith(failure(401, "unauthorized"), whole(answer()));
  await widget.ask("Again?");
  assert.deepEqual(paths(), ["/auth/v1/signup", "/auth/v1/token?grant_type=refresh_token"]);
  assert.equal(new Set(tokensSent()).size, 2);
});

test("a revoked session becomes a new visitor, who sees nothing of the previous one", async (t) => {
  // Renewed after three quarters of its life.
  auth.expiresIn = 2;
  const widget = await visit(t);
  await widget.ask("A private question?");
  await new Promise((resolve) => setTimeout(resolve, 1600));
  auth.refreshTokens.clear();
  auth.expiresIn = 3600;
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => sent().length === 2, "the question was sent as the new visitor");
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.deepEqual(await widget.all("user").allInnerTexts(), [QUESTION]);
  assert.match(tokensSent()[1] ?? "", new RegExp(tokenFor("user-2").replaceAll(".", "\\.")));
  assert.equal(JSON.parse(sent()[1]).session_id, undefined);
});

/** @type {Record<string, [status: number, body: object, text: RegExp, canRetry: boolean, forOwner: RegExp]>} */
const REFUSALS = {
  "anonymous sign-ins are turned off": [
    422,
    { error_code: "anonymous_provider_disabled" },
    /not allowed to ask questions/,
    false,
    /Allow anonymous sign-ins/,
  ],
  "there are too many new visitors": [
    429,
    { error_code: "over_request_rate_limit" },
    /again in (?<seconds>\d+) seconds/,
    true,
    /limits anonymous sign-ins per IP address/,
  ],
  "a CAPTCHA is missing": [400, { error_code: "captcha_failed" }, /could not be confirmed/, true, /turnstile-site-key/],
  "the server fails": [500, {}, /could not be confirmed/, true, /status 500/],
};
for (const [title, [status, body, text, canRetry, forOwner]] of Object.entries(REFUSALS)) {
  test(`if ${title}, the visitor sees why and the console says what to do`, async (t) => {
    const messages = [];
    auth.answer = (reply) => reply(status, body);
    const setUp = (page) => page.on("console", (message) => messages.push(message.text()));
    const widget = await visit(t, { setUp });
    const started = performance.now();
    await widget.ask(QUESTION, "failed");
    const shown = await widget.role("error-message").innerText();
    assert.match(shown, text);
    const seconds = text.exec(shown)?.groups?.seconds;
    if (seconds !== undefined) {
      // It counts down from 120.
      const passed = 120 - Number(seconds);
      assert.ok(passed >= 0 && passed <= Math.ceil((performance.now() - started) / 1000), shown);
    }
    assert.equal(await widget.all("retry").count(), canRetry ? 1 : 0);
    assert.ok(
      messages.some((message) => forOwner.test(message)),
      messages.join("\n"),
    );
    assert.deepEqual(sent(), []);
  });
}

test("the history of a visitor who never asked signs nobody in", async (t) => {
  const widget = await visit(t);
  await widget.role("input").focus();
  await widget.role("history-open").click();
  await widget.element.locator(".history-empty").waitFor();
  assert.deepEqual(paths(), []);
});

test("Turnstile loads only for a sign-in with a site key, and its token is sent", async (t) => {
  const scripts = [];
  const setUp = (page) =>
    page.route("https://challenges.cloudflare.com/**", (route) => {
      scripts.push(route.request().url());
      return route.fulfill({ contentType: "text/javascript", body: `(${String(turnstile)})()` });
    });
  const widget = await visit(t, { ...withTurnstile(), setUp });
  await widget.role("input").focus();
  await widget.becomes("ready");
  assert.deepEqual(scripts, []);
  await widget.ask(QUESTION, "pending");
  const challenge = widget.page.getByRole("button", { name: "I am human" });
  await challenge.click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.deepEqual(scripts, ["https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit"]);
  assert.deepEqual(auth.requests[0].body.gotrue_meta_security, { captcha_token: "token for 0x4AAAA" });
  assert.equal(await challenge.count(), 0);
});

test("a visitor has the time to solve a CAPTCHA", async (t) => {
  const setUp = async (page) => {
    await page.route("https://challenges.cloudflare.com/**", (route) =>
      route.fulfill({ contentType: "text/javascript", body: `(${String(turnstile)})()` }),
    );
    await page.clock.install();
  };
  const widget = await visit(t, { ...withTurnstile(), setUp });
  await widget.role("input").focus();
  await widget.becomes("ready");
  await widget.ask(QUESTION, "pending");
  const challenge = widget.page.getByRole("button", { name: "I am human" });
  await challenge.waitFor();
  await widget.page.clock.runFor(110_000);
  assert.equal(await widget.role("assistant").getAttribute("data-state"), "pending");
  await challenge.click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
});

test("if the script of Turnstile cannot be loaded, a retry loads it again", async (t) => {
  let isOffline = true;
  const setUp = (page) =>
    page.route("https://challenges.cloudflare.com/**", (route) =>
      isOffline ? route.abort() : route.fulfill({ contentType: "text/javascript", body: `(${String(turnstile)})()` }),
    );
  const widget = await visit(t, { ...withTurnstile(), setUp });
  await widget.ask(QUESTION, "failed");
  widget.page.errors.length = 0;
  isOffline = false;
  await widget.role("retry").click();
  await widget.page.getByRole("button", { name: "I am human" }).click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
});

/** Attributes and a policy with Turnstile and its policy of Trusted Types. */
function withTurnstile() {
  const csp = policy({ "script-src": ["https://challenges.cloudflare.com"] }).replace(
    "trusted-types ",
    "trusted-types evidence-chat-turnstile ",
  );
  return { attributes: { ...ownAttributes(), "turnstile-site-key": "0x4AAAA" }, csp };
}

/** Runs in the page: a stand-in for Turnstile that asks the visitor to click. */
function turnstile() {
  const widgets = [];
  Object.assign(globalThis, {
    turnstile: {
      render(container, options) {
        const button = document.createElement("button");
        button.textContent = "I am human";
        button.onclick = () => options.callback(`token for ${options.sitekey}`);
        container.append(button);
        widgets.push(container);
        return String(widgets.length - 1);
      },
      remove: (id) => widgets[id].replaceChildren(),
    },
  });
}

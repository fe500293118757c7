import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { importTs } from "../../tests/lib/import-ts.mjs";
import { startAuthServer } from "./auth-server.mjs";

const { AnonymousSession, AnonymousSignInError } = await importTs(
  new URL("../src/client/anonymous.ts", import.meta.url),
);
const { AnonymousStore, storageKey } = await importTs(new URL("../src/client/anonymous-store.ts", import.meta.url));

const ENDPOINT = "https://chat.example.com/api/chat";
const HOUR = 3_600_000;
const open = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function startAuth() {
  const auth = await startAuthServer();
  open.push(auth);
  return auth;
}

/** A browser: storage and locks that its tabs share, and a clock. What one tab writes reaches the others `delayMs` later. */
function startBrowser({ isBlocked = false, delayMs = 0, locks = undefined } = {}) {
  const entries = new Map();
  /** What each tab sees, if that is not the same. */
  const views = new Set();
  const queues = new Map();
  const fail = () => {
    throw new Error("blocked");
  };
  const clock = { ms: 1_000_000 };
  const change = (view, apply) => {
    apply(view);
    if (delayMs > 0) setTimeout(() => [entries, ...views].forEach(apply), delayMs);
  };
  let isFull = false;
  const storageOf = (view) => ({
    getItem: (key) => (isBlocked ? fail() : (view.get(key) ?? null)),
    setItem: (key, value) => (isBlocked || isFull ? fail() : change(view, (each) => each.set(key, value))),
    removeItem: (key) => (isBlocked ? fail() : change(view, (each) => each.delete(key))),
  });
  /** As in navigator.locks; `work` gets `null` if the lock is not available and should not be awaited. */
  const request = (name, ...[options, work = options]) => {
    const holder = queues.get(name);
    if (holder && options.ifAvailable) return Promise.resolve(work(null));
    const next = (holder ?? Promise.resolve()).then(() => work({ name }));
    const end = next.then(
      () => undefined,
      () => undefined,
    );
    queues.set(name, end);
    void end.then(() => queues.get(name) === end && queues.delete(name));
    return next;
  };
  const environment = {
    locks: locks ?? { request },
    pause: () => new Promise((resolve) => setTimeout(resolve, 5)),
  };
  /** A tab of the browser. */
  const tab = (auth, options = {}) => {
    const view = delayMs > 0 ? new Map(entries) : entries;
    views.add(view);
    return new AnonymousSession(
      { supabaseUrl: auth.url, supabaseKey: "sb_publishable_x", ...options },
      new AnonymousStore(auth.url, options.endpoint ?? ENDPOINT, { ...environment, storage: storageOf(view) }),
      () => clock.ms,
    );
  };
  return { tab, entries, clock, fill: () => void (isFull = true) };
}

test("nobody is signed in before signIn is called", async () => {
  const auth = await startAuth();
  assert.equal(await startBrowser().tab(auth).currentToken(), null);
  assert.deepEqual(auth.requests, []);
});

test("signs in as Supabase Auth expects it, marks the user, and keeps the session", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const token = await browser.tab(auth).signIn();
  assert.equal(token, "access-user-1-1");
  const [{ path, headers, body }] = auth.requests;
  assert.equal(path, "/auth/v1/signup");
  assert.equal(headers.apikey, "sb_publishable_x");
  assert.equal(headers.authorization, undefined);
  assert.deepEqual(body, { data: { created_by: "evidence-chat" }, gotrue_meta_security: {} });
  for (const method of ["signIn", "currentToken"]) assert.equal(await browser.tab(auth)[method](), token);
  assert.equal(auth.requests.length, 1);
  assert.deepEqual([...browser.entries.keys()], [storageKey(auth.url, ENDPOINT)]);
});

test("tabs that ask at once sign in one user", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const tokens = await Promise.all([1, 2, 3].map(() => browser.tab(auth).signIn()));
  assert.deepEqual([auth.users, new Set(tokens).size], [1, 1]);
});

test("an ending token is renewed once for all tabs", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const tabs = [1, 2, 3].map(() => browser.tab(auth));
  await tabs[0].signIn();
  browser.clock.ms += HOUR - 30_000;
  const tokens = await Promise.all(tabs.flatMap((tab) => [tab.currentToken(), tab.signIn()]));
  assert.deepEqual([...new Set(tokens)], ["access-user-1-2"]);
  assert.equal(auth.requests.length, 2);
  assert.deepEqual(auth.requests[1].body, { refresh_token: "refresh-1" });
});

test("tabs that ask at once sign in one user, also if the lock is faster than the storage", async () => {
  const auth = await startAuth();
  const browser = startBrowser({ delayMs: 20 });
  const tokens = await Promise.all([1, 2, 3].map(() => browser.tab(auth).signIn()));
  assert.deepEqual([auth.users, new Set(tokens).size], [1, 1]);
});

test("a tab that waited for a failed sign-in tries itself", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  auth.answer = (reply) => {
    auth.answer = undefined;
    reply(503, {});
  };
  const [first, second] = await Promise.allSettled([browser.tab(auth).signIn(), browser.tab(auth).signIn()]);
  assert.deepEqual([first.status, second.status, auth.users], ["rejected", "fulfilled", 1]);
});

test("with blocked storage the session lasts as long as the page", async () => {
  const auth = await startAuth();
  const browser = startBrowser({ isBlocked: true });
  const page = browser.tab(auth);
  assert.equal(await page.signIn(), await page.currentToken());
  assert.equal(await browser.tab(auth).currentToken(), null);
  assert.equal(auth.users, 1);
});

test("a renewed session that cannot be stored takes the place of the stored one", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const page = browser.tab(auth);
  await page.signIn();
  browser.fill();
  browser.clock.ms += HOUR;
  assert.equal(await page.signIn(), "access-user-1-2");
  browser.clock.ms += HOUR;
  assert.equal(await page.signIn(), "access-user-1-3");
  assert.equal(auth.users, 1);
});

test("a clock that was set back renews the token, and one that is wrong does not matter", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const page = browser.tab(auth);
  browser.clock.ms = 5;
  await page.signIn();
  assert.equal(await page.currentToken(), "access-user-1-1");
  browser.clock.ms = 0;
  assert.equal(await page.currentToken(), "access-user-1-2");
});

test("a very short token is used for three quarters of its life", async () => {
  const auth = await startAuth();
  auth.expiresIn = 40;
  const browser = startBrowser();
  const page = browser.tab(auth);
  await page.signIn();
  browser.clock.ms += 29_000;
  await page.currentToken();
  assert.equal(auth.requests.length, 1);
  browser.clock.ms += 2_000;
  await page.currentToken();
  assert.equal(auth.requests.length, 2);
});

test("a refused refresh token makes a new user with the next question, and none before", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const page = browser.tab(auth);
  await page.signIn();
  browser.clock.ms += HOUR;
  auth.refreshTokens.clear();
  assert.equal(await page.currentToken(), null);
  assert.equal(auth.users, 1);
  assert.match((await page.signIn()) ?? "", /^access-user-2-/);
});

test("a token that the server rejected is renewed although it has not ended", async () => {
  const auth = await startAuth();
  const page = startBrowser().tab(auth);
  await page.signIn();
  page.reject();
  assert.equal(await page.signIn(), "access-user-1-2");
  assert.equal(await page.signIn(), "access-user-1-2");
});

test("if the renewal fails for the moment, a token that has not ended is used, and the session stays", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const page = browser.tab(auth);
  await page.signIn();
  for (const status of [500, 429, 401]) {
    auth.answer = (reply) => reply(status, { msg: "later" });
    browser.clock.ms = 1_000_000 + HOUR - 30_000;
    assert.equal(await page.signIn(), "access-user-1-1");
    browser.clock.ms = 1_000_000 + HOUR;
    await assert.rejects(page.signIn(), AnonymousSignInError);
  }
  auth.answer = undefined;
  assert.equal(await page.signIn(), "access-user-1-2");
  assert.equal(auth.users, 1);
});

/** @type {Record<string, [status: number, body: object, headers: object, code: string, message: RegExp]>} */
const REFUSALS = {
  "anonymous sign-ins are turned off": [
    422,
    { code: 422, error_code: "anonymous_provider_disabled", msg: "Anonymous sign-ins are disabled" },
    {},
    "disabled",
    /Allow anonymous sign-ins/,
  ],
  "the newer form of that error": [422, { code: "anonymous_provider_disabled" }, {}, "disabled", /dashboard/],
  "sign-ups are turned off": [422, { error_code: "signup_disabled" }, {}, "disabled", /dashboard/],
  "a CAPTCHA token is missing": [400, { error_code: "captcha_failed" }, {}, "captcha", /turnstile-site-key/],
  "a wrong key": [401, { message: "Invalid API key" }, {}, "rejected", /401: Invalid API key/],
  "a server error": [503, {}, {}, "unreachable", /503/],
};
for (const [title, [status, body, headers, code, message]] of Object.entries(REFUSALS)) {
  test(`${title}: the error has the code ${code} and says what to do`, async () => {
    const auth = await startAuth();
    auth.answer = (reply) => reply(status, body, headers);
    const browser = startBrowser();
    await assert.rejects(browser.tab(auth).signIn(), (/** @type {any} */ error) => {
      assert.ok(error instanceof AnonymousSignInError);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
    assert.equal(browser.entries.size, 0);
  });
}

test("a rate limit says when to come back, and no request is sent before", async () => {
  for (const [headers, seconds] of [
    [{}, 120],
    [{ "retry-after": "30" }, 30],
  ]) {
    const auth = await startAuth();
    auth.answer = (reply) => reply(429, { error_code: "over_request_rate_limit" }, headers);
    const browser = startBrowser();
    const page = browser.tab(auth);
    const waitOf = () => page.signIn().catch((error) => [error.code, error.retryAfterSeconds]);
    assert.deepEqual(await waitOf(), ["rate_limited", seconds]);
    browser.clock.ms += 10_000;
    assert.deepEqual(await waitOf(), ["rate_limited", Number(seconds) - 10]);
    assert.equal(auth.requests.length, 1);
    browser.clock.ms += Number(seconds) * 1000;
    auth.answer = undefined;
    assert.ok(await page.signIn());
  }
});

test("the CAPTCHA is asked for only at sign-in, and its token is sent", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  let asked = 0;
  const page = browser.tab(auth, { captchaToken: async () => `captcha-${++asked}` });
  await page.signIn();
  assert.deepEqual(auth.requests[0].body.gotrue_meta_security, { captcha_token: "captcha-1" });
  browser.clock.ms += HOUR;
  await page.signIn();
  assert.deepEqual([asked, auth.requests.length], [1, 2]);
  const failing = startBrowser().tab(auth, { captchaToken: () => Promise.reject(new Error("no")) });
  await assert.rejects(failing.signIn(), { name: "AnonymousSignInError", code: "captcha" });
});

test("while one tab shows a CAPTCHA, another one signs in, and then both have one user", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const { promise, resolve } = Promise.withResolvers();
  const first = browser.tab(auth, { captchaToken: () => promise }).signIn();
  const token = await browser.tab(auth, { captchaToken: async () => "solved" }).signIn();
  resolve("late");
  assert.equal(await first, token);
  assert.equal(auth.users, 1);
});

test("a tab that is suspended while it holds the lock does not keep others from signing in", async () => {
  const auth = await startAuth();
  const request = (/** @type {any[]} */ ...[, { ifAvailable, signal }, work]) => {
    if (ifAvailable) return Promise.resolve(work(null));
    assert.ok(signal instanceof AbortSignal, "waiting has an end");
    return Promise.reject(new DOMException("The operation timed out.", "TimeoutError"));
  };
  const session = startBrowser({ locks: { request } }).tab(auth);
  assert.ok(await session.signIn());
});

test("a sign-in that fails with the lock is not tried a second time without it", async () => {
  const auth = await startAuth();
  auth.answer = (reply) => reply(503, {});
  const browser = startBrowser();
  await Promise.allSettled([browser.tab(auth).signIn(), browser.tab(auth).signIn()]);
  assert.equal(auth.requests.length, 2);
});

test("responses and stored values of any shape do no harm", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  for (const body of [null, [], "text", {}, { access_token: 1, refresh_token: 2 }, { access_token: "a" }]) {
    auth.answer = (reply) => reply(200, body);
    await assert.rejects(browser.tab(auth).signIn(), { code: "unreachable" });
  }
  auth.answer = undefined;
  for (const stored of [
    "",
    "{",
    "null",
    "[]",
    '{"access_token":"a"}',
    '{"access_token":"a","refresh_token":"b","lifetime_ms":"x"}',
  ]) {
    browser.entries.set(storageKey(auth.url, ENDPOINT), stored);
    assert.equal(await browser.tab(auth).currentToken(), null);
  }
  assert.ok(await browser.tab(auth).signIn());
});

test("a trailing slash of the URL makes no difference", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const token = await browser.tab(auth).signIn();
  assert.equal(storageKey(`${auth.url}/`, ENDPOINT), storageKey(auth.url, ENDPOINT));
  assert.equal(await browser.tab({ ...auth, url: `${auth.url}/` }).currentToken(), token);
});

test("a visitor is another one for another server, whatever project that server names", async () => {
  const auth = await startAuth();
  const browser = startBrowser();
  const token = await browser.tab(auth).signIn();
  for (const endpoint of ["https://evil.example/api/chat", "http://chat.example.com/api/chat"]) {
    assert.equal(await browser.tab(auth, { endpoint }).currentToken(), null, endpoint);
    assert.notEqual(await browser.tab(auth, { endpoint }).signIn(), token, endpoint);
  }
  assert.equal(await browser.tab(auth, { endpoint: `${ENDPOINT}?page` }).currentToken(), token);
});

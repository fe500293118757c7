// What a visitor does, in a real browser against the real demo. The tests run in order on one demo.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createHmac } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { HostPage } from "../lib/host-page.mjs";
import { Widget } from "../lib/widget.mjs";

const COVERED = "Can I get my money back after two weeks?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";

const { data, demo, page } = await startDemoSuite({ browser: {} });
const widget = new Widget(page);

const inWidget = (role) => widget.find(role);
const lastReply = () => widget.lastReply;
const ask = (question) => widget.ask(question);
const replyEnds = (state) => widget.replyEnds(state);

test("a visitor signs in with the test login and sees the chat", async () => {
  await page.goto(demo.info.page_url);
  await page.locator("body[data-view=sign-in]").waitFor();
  assert.equal(await page.locator("#email").inputValue(), demo.info.login.email);
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
});

test("a covered question streams an answer whose sources quote the documents", async () => {
  await ask(COVERED);
  await replyEnds("done");
  const markers = await lastReply().locator("[data-role=marker]").count();
  assert.ok(markers >= 1 && markers <= 3, `${markers} markers`);
  assert.match(await lastReply().locator("[data-role=answer]").textContent(), /30 days/);
  const source = lastReply().locator("[data-role=source]").first();
  assert.match(await source.locator("[data-role=source-title]").textContent(), /return|refund/i);

  await lastReply().locator("[data-role=marker]").first().click();
  assert.equal(await source.getAttribute("open"), "");
  const quote = await source.locator("[data-role=quote]").first().textContent();
  assert.ok((await lastReply().locator("[data-role=answer]").textContent()).includes(quote));
  assert.equal(await widget.host.getAttribute("data-state"), "ready");
});

test("a copied answer names its sources in place of the badges", async () => {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const [{ content, citations }] = await demo.rest("GET", "chat_messages?role=eq.assistant&select=content,citations");
  await inWidget("copy").click();
  await inWidget("copy").filter({ hasText: "Copied" }).waitFor();
  const titleOf = (index) => citations.find((citation) => citation.index === Number(index)).title;
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    content.replace(/\[(\d+)\]/g, (_, index) => `[${titleOf(index)}]`),
  );
});

test("an uncovered question is refused with suggestions", async () => {
  await ask(OFF_TOPIC);
  await replyEnds("refused");
  assert.match(await lastReply().textContent(), /I don't have enough information to answer that question/);
  assert.equal(await lastReply().locator("[data-role=suggestion]").count(), 1);
  const contact = new URL(await lastReply().locator("[data-role=contact]").getAttribute("href"));
  assert.equal(contact.protocol, "mailto:");
  assert.equal(contact.searchParams.get("body"), OFF_TOPIC);
});

test("the conversation is one session in the visitor's history", async () => {
  const sessions = await demo.rest("GET", "chat_sessions?select=title,chat_messages(role)");
  assert.equal(sessions.length, 1);
  assert.equal(sessions[0].title, COVERED);
  assert.deepEqual(sessions[0].chat_messages.map(({ role }) => role).sort(), [
    "assistant",
    "assistant",
    "user",
    "user",
  ]);
});

test("markup and bracketed numbers in a document are shown as text and run nothing", async () => {
  const kb = join(data, "hostile");
  await mkdir(kb);
  const payload = '<img src=x alt="k7" onerror="window.hacked=1"><script>window.hacked=1</script>';
  const sentence = `The zebra password is ${payload} as printed on the zebra card [7].`;
  await writeFile(join(kb, "zebra.md"), `# Zebra\n\n${sentence}\n`);
  const { code, stderr } = await demo.kb("sync", kb);
  assert.equal(code, 0, stderr);
  await ask("What is the zebra password?");
  await replyEnds("done");
  const plain = sentence.replace(payload, "k7");
  assert.ok((await lastReply().locator("[data-role=answer]").textContent()).includes(plain), "without markup");
  await lastReply().locator("[data-role=marker]").first().click();
  const quote = await lastReply().locator("details[open] [data-role=quote]").allTextContents();
  assert.equal(quote.join(""), plain, "in its passage, also without markup");
  assert.equal(
    await lastReply().locator("details[open] [data-role=verified-quote]").count(),
    1,
    "compared character by character",
  );
  assert.equal(await widget.host.locator("img, script").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("a second visit does not download the model", async () => {
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.reload();
  await page.locator("body[data-view=chat]").waitFor();
  await ask(COVERED);
  await replyEnds("done");
  assert.deepEqual(
    requests.filter((url) => /all-MiniLM[\w-]+\.safetensors\.gz$/.test(url)),
    [],
  );
});

test("a widget that is removed from the page while it waits offers a retry when it is added again", async () => {
  /** @type {import("playwright-core").Route} */
  let held;
  const arrived = new Promise((resolve) => {
    void page.route(demo.info.chat_url, (route) => {
      held = route;
      resolve(route);
    });
  });
  await ask(COVERED);
  await arrived;
  await widget.host.evaluate(async (element) => {
    const parent = element.parentNode;
    element.remove();
    await new Promise((resolve) => setTimeout(resolve, 100));
    parent.append(element);
  });
  await replyEnds("failed");
  await page.unroute(demo.info.chat_url);
  await held.abort().catch(() => {});
  await lastReply().locator("[data-role=retry]").click();
  await replyEnds("done");
});

test("nothing of a visitor remains for the next one", async () => {
  await inWidget("input").fill("a private draft");
  await page.locator("#sign-out").click();
  await page.locator("body[data-view=sign-in]").waitFor();
  await page.locator("#email").fill(`${crypto.randomUUID()}@example.com`);
  await page.locator("#password").fill("another-password");
  await page.locator("#auth-create").click();
  await page.locator("body[data-view=chat]").waitFor();
  assert.equal(await inWidget("input").inputValue(), "");
  assert.equal(await inWidget("assistant").count(), 0);
  await ask(COVERED);
  await replyEnds("done");
});

/** The token with other claims; it is signed with the right secret unless `isForged`. */
async function tokenWith(token, claims, { isForged = false } = {}) {
  const { jwt_secret } = JSON.parse(await readFile(join(data, "keys.json"), "utf8"));
  const [head, payload] = token.split(".");
  const body = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), ...claims };
  const unsigned = `${head}.${Buffer.from(JSON.stringify(body)).toString("base64url")}`;
  const secret = isForged ? "another secret" : jwt_secret;
  return `${unsigned}.${createHmac("sha256", secret).update(unsigned).digest("base64url")}`;
}

/** Opens a page whose `tokenProvider` returns the first of these tokens until a question is rejected, then the next; the last one stays. */
async function openWithTokens(...tokens) {
  const host = await HostPage.prepare(page, demo);
  await host.open();
  await host.ready();
  const setTokens = ({ all, chatUrl }) => {
    let rejected = 0;
    const { fetch } = window;
    window.fetch = async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401 && response.url === chatUrl) rejected++;
      return response;
    };
    const chat = document.querySelector("evidence-chat");
    chat.tokenProvider = async () => all[Math.min(rejected, all.length - 1)];
  };
  await page.evaluate(setTokens, { all: tokens, chatUrl: demo.info.chat_url });
}

const giveToken = (token) =>
  page.evaluate((only) => {
    document.querySelector("evidence-chat").tokenProvider = async () => only;
  }, token);

/** The tokens of the chat requests that are made while `work` runs. */
async function tokensSent(work) {
  const tokens = [];
  const note = (request) => {
    if (request.url() !== demo.info.chat_url || request.method() !== "POST") return;
    tokens.push(request.headers().authorization.replace(/^Bearer /, ""));
  };
  page.on("request", note);
  await work();
  page.off("request", note);
  return tokens;
}

for (const { name, damage } of [
  { name: "an expired", damage: (token) => tokenWith(token, { exp: Math.floor(Date.now() / 1000) - 3600 }) },
  { name: "a forged", damage: (token) => tokenWith(token, {}, { isForged: true }) },
  { name: "an unreadable", damage: async () => "nonsense" },
]) {
  test(`after ${name} token the widget requests a new one and gets the answer`, async () => {
    const good = await demo.newUser();
    const bad = await damage(good);
    await openWithTokens(bad, good);
    assert.deepEqual(await tokensSent(() => widget.askFor(COVERED)), [bad, good]);
    assert.deepEqual(await inWidget("user").allInnerTexts(), [COVERED]);
    assert.equal((await demo.rest("GET", "chat_messages?select=id", { token: good })).length, 2, "stored once");
  });
}

test("a visitor whose tokens are all rejected is asked to sign in and can then ask", async () => {
  const good = await demo.newUser();
  const bad = await tokenWith(good, {}, { isForged: true });
  await openWithTokens(bad);
  assert.deepEqual(await tokensSent(() => widget.askFor(COVERED, "failed")), [bad, bad]);
  const error = lastReply().locator("[data-role=error]");
  assert.equal(await error.getAttribute("data-code"), "unauthorized");
  assert.match(await error.innerText(), /sign-in is no longer valid/);
  assert.equal(await lastReply().locator("[data-role=retry]").count(), 0);
  await giveToken(good);
  await widget.askFor(COVERED);
});

test("after a change of user, the next question belongs to the new user and nothing of the previous one remains", async () => {
  const [first, second] = [await demo.newUser(), await demo.newUser()];
  await openWithTokens(first);
  await widget.askFor(OFF_TOPIC, "refused");
  await giveToken(second);
  await inWidget("input").fill(COVERED);
  await inWidget("input").press("Enter");
  await replyEnds("done");
  assert.deepEqual(await inWidget("user").allInnerTexts(), [COVERED]);
  for (const [token, question] of [
    [first, OFF_TOPIC],
    [second, COVERED],
  ]) {
    const stored = await demo.rest("GET", "chat_messages?role=eq.user&select=content", { token });
    assert.deepEqual(stored, [{ content: question }]);
  }
});

test("of 21 questions in a row 20 get an outcome and the last one a countdown", async () => {
  await openWithTokens(await demo.newUser());
  for (let asked = 0; asked < 20; asked++) {
    if (asked % 5 === 4) await widget.askFor(OFF_TOPIC, "refused");
    else await widget.askFor(COVERED);
  }
  await widget.askFor(COVERED, "failed");
  assert.equal(await lastReply().locator("[data-role=error]").getAttribute("data-code"), "rate_limited");
  assert.match(await lastReply().locator("[data-role=error-message]").innerText(), /again in \d+ seconds?\./);
  const retry = lastReply().locator("[data-role=retry]");
  assert.ok(await retry.isDisabled());
  const seconds = async () => Number(/^Retry in (\d+) s$/.exec((await retry.innerText()).trim())[1]);
  const first = await seconds();
  assert.ok(first >= 1 && first <= 60, `${first} s`);
  await page.waitForTimeout(1500);
  assert.ok((await seconds()) < first, "the countdown runs");
  const states = await inWidget("assistant").evaluateAll((replies) => replies.map(({ dataset }) => dataset.state));
  assert.deepEqual(states.slice(0, 20), Array(4).fill(["done", "done", "done", "done", "refused"]).flat());
});

test("the widget offers a retry while Supabase is stopped", async () => {
  await page.goto(demo.info.page_url);
  await page.locator("body[data-view=chat]").waitFor();
  process.kill(demo.info.processes.supabase, "SIGKILL");
  await ask("How long does standard shipping take?");
  await replyEnds("failed");
  const error = lastReply().locator("[data-role=error]");
  assert.equal(await error.getAttribute("data-code"), "upstream_unavailable");
  const retried = page.waitForRequest((request) => request.url() === demo.info.chat_url && request.method() === "POST");
  await lastReply().locator("[data-role=retry]").click();
  assert.match((await retried).postDataJSON().message, /standard shipping/);
});

test("no page logged an error", () => {
  assert.deepEqual(page.errors, []);
});

// What a visitor does, in a real browser against the real demo. The tests run in order on one demo.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser } from "../lib/browser.mjs";
import { startDemo } from "../lib/demo.mjs";
import { Widget } from "../lib/widget.mjs";

const COVERED = "Can I get my money back after two weeks?";
const OFF_TOPIC = "Which planet in the solar system has the most moons?";
// Where the pictures for the README go, when somebody wants them.
const SCREENSHOTS = process.env.SCREENSHOT_DIR;

let data, demo, browser, page, widget;

before(async () => {
  data = await mkdtemp(join(tmpdir(), "evidence-chat-"));
  demo = await startDemo({ data });
  browser = await openBrowser({ deviceScaleFactor: SCREENSHOTS ? 2 : 1 });
  page = browser.page;
  widget = new Widget(page);
});

after(async () => {
  await browser?.close();
  await demo?.stop();
  await rm(data, { recursive: true, force: true });
});

const inWidget = (role) => widget.find(role);
const lastReply = () => widget.lastReply;
const ask = (question) => widget.ask(question);
const replyEnds = (state) => widget.replyEnds(state);

async function screenshot(name) {
  if (!SCREENSHOTS) return;
  await mkdir(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

test("a visitor signs in with the test login and sees the chat", async () => {
  await page.goto(demo.info.page_url);
  await page.locator("body[data-view=sign-in]").waitFor();
  await screenshot("sign-in");
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
  await screenshot("answer");
});

test("an uncovered question is refused with suggestions", async () => {
  await ask(OFF_TOPIC);
  await replyEnds("refused");
  assert.match(await lastReply().textContent(), /I don't have enough information to answer that question/);
  assert.equal(await lastReply().locator("[data-role=suggestion]").count(), 2);
  await screenshot("refusal");
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
  const payload = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
  const sentence = `The zebra password is ${payload} as printed on the zebra card [7].`;
  await writeFile(join(kb, "zebra.md"), `# Zebra\n\n${sentence}\n`);
  const { code, stderr } = await demo.kb("sync", kb);
  assert.equal(code, 0, stderr);
  await ask("What is the zebra password?");
  await replyEnds("done");
  const plain = sentence.replace(payload, "window.hacked=1");
  assert.ok((await lastReply().locator("[data-role=answer]").textContent()).includes(plain), "without markup");
  await lastReply().locator("[data-role=marker]").first().click();
  const quote = await lastReply().locator("details[open] [data-role=quote]").allTextContents();
  assert.equal(quote.join(""), plain, "in its passage, without markup as well");
  assert.equal(
    await lastReply().locator("details[open] [data-role=verified-quote]").count(),
    1,
    "compared to the letter",
  );
  assert.equal(await widget.host.locator("img, script").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("a second visit needs no download of the model", async () => {
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.reload();
  await page.locator("body[data-view=chat]").waitFor();
  await ask(COVERED);
  await replyEnds("done");
  assert.deepEqual(
    requests.filter((url) => url.endsWith(".safetensors")),
    [],
  );
});

test("a widget that is taken off the page while it waits offers a retry when it is back", async () => {
  let held;
  const arrived = new Promise((resolve) => {
    void page.route(demo.info.chat_url, (route) => {
      held = route;
      resolve();
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

test("nothing of one visitor is left for the next", async () => {
  await inWidget("input").fill("a private draft");
  await page.locator("#sign-out").click();
  await page.locator("body[data-view=sign-in]").waitFor();
  await page.locator("#auth-switch").click();
  await page.locator("#email").fill(`${crypto.randomUUID()}@example.com`);
  await page.locator("#password").fill("another-password");
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
  assert.equal(await inWidget("input").inputValue(), "");
  assert.equal(await inWidget("assistant").count(), 0);
  await ask(COVERED);
  await replyEnds("done");
});

test("with Supabase stopped, the visitor is offered a retry", async () => {
  process.kill(demo.info.processes.supabase, "SIGKILL");
  await ask("How long does standard shipping take?");
  await replyEnds("failed");
  const error = lastReply().locator("[data-role=error]");
  assert.equal(await error.getAttribute("data-code"), "upstream_unavailable");
  await screenshot("error");
  const retried = page.waitForRequest((request) => request.url() === demo.info.chat_url && request.method() === "POST");
  await lastReply().locator("[data-role=retry]").click();
  assert.match((await retried).postDataJSON().message, /standard shipping/);
});

test("nothing failed on the page", () => {
  assert.deepEqual(page.errors, []);
});

// Visitors without an account, in a real browser against the real demo: the tag alone, and nothing that signs them in.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { Widget } from "../lib/widget.mjs";

const COVERED = "Can I get my money back after two weeks?";

const { demo, page } = await startDemoSuite({ browser: {} });
const { origin } = new URL(demo.info.page_url);
const context = page.context();

/** The page: one tag, on the origin that the Worker allows. */
const tag = () => `<!doctype html><title>A page</title>
  <script type="module" src="${origin}/widget/evidence-chat.js"></script>
  <evidence-chat endpoint="${demo.info.chat_url}" supabase-url="${demo.info.supabase_url}"
    supabase-key="${demo.info.publishable_key}" style="height: 640px"></evidence-chat>`;
const setDefaultAudience = (entry) =>
  demo.rest("PATCH", "chat_settings?id=is.true", { body: { default_audience: [entry] } });
const conversations = () => demo.rest("GET", "chat_sessions?select=id,user_id");

await context.route(`${origin}/visitors`, (route) => route.fulfill({ contentType: "text/html", body: tag() }));

/** Opens the page in a new tab and gives its widget and its sign-ins. */
async function openTab() {
  const tab = await context.newPage();
  const signIns = [];
  tab.on("request", (request) => {
    if (request.url().endsWith("/auth/v1/signup") && request.method() === "POST") signIns.push(request.postDataJSON());
  });
  await tab.goto(`${origin}/visitors`);
  return { tab, signIns, widget: new Widget(tab) };
}

beforeEach(async () => {
  await page.goto(`${origin}/visitors`);
  await page.evaluate(() => localStorage.clear());
});

test("while the default audience is closed, a visitor without an account is refused", async () => {
  await setDefaultAudience("is_anonymous:false");
  const { tab, signIns, widget } = await openTab();
  await widget.ask(COVERED);
  await widget.replyEnds("refused");
  assert.equal(signIns.length, 1);
  assert.equal(await widget.lastReply.locator("[data-role=source]").count(), 0);
  await tab.close();
});

test("with the default audience open, the tag alone asks and gets an answer, and its history", async () => {
  await setDefaultAudience("role:authenticated");
  const before = (await conversations()).length;
  const { tab, signIns, widget } = await openTab();
  await widget.ask(COVERED);
  await widget.replyEnds("done");
  assert.match((await widget.lastReply.locator("[data-role=answer]").textContent()) ?? "", /30 days/);
  assert.equal(signIns.length, 1);
  assert.deepEqual(signIns[0].data, { created_by: "evidence-chat" });
  assert.equal((await conversations()).length, before + 1);
  await widget.find("history-open").click();
  await widget.find("session-open").first().waitFor();
  assert.equal(await widget.find("session-open").count(), 1);
  await tab.close();
});

test("two tabs that ask at once are one visitor", async () => {
  await setDefaultAudience("role:authenticated");
  const known = new Set((await conversations()).map(({ user_id: user }) => user));
  const tabs = [await openTab(), await openTab()];
  await Promise.all(tabs.map(({ widget }) => widget.ask(COVERED)));
  await Promise.all(tabs.map(({ widget }) => widget.replyEnds("done")));
  assert.equal(tabs.flatMap(({ signIns }) => signIns).length, 1);
  const added = (await conversations()).map(({ user_id: user }) => user).filter((user) => !known.has(user));
  assert.deepEqual([added.length, new Set(added).size], [2, 1]);
  for (const { tab } of tabs) await tab.close();
});

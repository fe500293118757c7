// What a site's owner pastes, on a page of another origin that has nothing else: the Worker serves widget and model, and visitors
// have no account.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";
import { Widget } from "../lib/widget.mjs";

const SITE = "http://localhost:9099";
const QUESTION = "Can I get my money back after two weeks?";
const UNKNOWN = "This assistant does not exist, or you don't have access to it.";

const { demo, page } = await startDemoSuite({
  options: ["--like-production", "--allow-origin", SITE],
  variables: { CHAT_ANONYMOUS: "true" },
  browser: {},
});
const widget = new Widget(page);

await demo.rest("PATCH", "chat_settings?id=is.true", { body: { default_audience: ["role:authenticated"] } });
for (const assistant of [
  { name: "shop", title: "The shop" },
  { name: "staff", audience: ["team:staff"] },
  { name: "accounts", audience: ["is_anonymous:false"] },
]) {
  await demo.rest("POST", "assistants", { body: assistant });
}

await page.route(`${SITE}/**`, (route) => {
  const assistant = new URL(route.request().url()).searchParams.get("assistant");
  const attribute = assistant === null ? "" : ` assistant="${assistant}"`;
  const tag = `<script type="module" src="${demo.info.worker_url}/evidence-chat.js"></script><evidence-chat${attribute}></evidence-chat>`;
  return route.fulfill({ contentType: "text/html", body: `<!doctype html><title>A site</title>${tag}` });
});

beforeEach(async () => {
  await page.goto(SITE);
  await page.evaluate(() => localStorage.clear());
});

test("the tag alone asks and gets an answer", async () => {
  await page.goto(SITE);
  await widget.askFor(QUESTION);
  assert.match(await widget.lastReply.innerText(), /30 days/);
  const [{ user_id: user, assistant }] = await demo.rest("GET", "chat_sessions?select=user_id,assistant");
  assert.equal(assistant, "default");
  const claims = await page.evaluate(() => {
    const session = Object.values(localStorage).find((value) => value.includes("access_token"));
    return JSON.parse(atob(JSON.parse(session).access_token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
  });
  assert.deepEqual([claims.sub, claims.is_anonymous], [user, true]);
});

test("the tag with the name of an assistant asks that one", async () => {
  await page.goto(`${SITE}/?assistant=shop`);
  await widget.askFor(QUESTION);
  assert.match(await widget.lastReply.innerText(), /30 days/);
  assert.equal(await widget.host.locator("[part~=heading]").innerText(), "The shop");
  assert.equal((await demo.rest("GET", "chat_sessions?assistant=eq.shop")).length, 1);
});

for (const name of ["staff", "accounts", "no-such-assistant"]) {
  test(`the assistant ${name} is not for visitors without an account`, async () => {
    await page.goto(`${SITE}/?assistant=${name}`);
    await widget.askFor(QUESTION, "failed");
    assert.equal(await widget.find("error-message").innerText(), UNKNOWN);
    assert.deepEqual(await demo.rest("GET", `chat_sessions?assistant=eq.${name}`), []);
  });
}

// The insights of the real demo: what visitors ask reaches the page of its administrator.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";

const { demo, page } = await startDemoSuite({ browser: {} });

test("the administrator of the demo sees questions, citations and their use, and visitors do not", async () => {
  const token = await demo.newUser();
  await ask(demo.info.chat_url, token, "Can I get my money back after two weeks?");
  await ask(demo.info.chat_url, token, "Which planet in the solar system has the most moons?");
  const counted = await fetch(`${demo.info.worker_url}/api/citation-use`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ opened: 2 }),
  });
  assert.equal(counted.status, 204);
  await assert.rejects(demo.rest("POST", "rpc/chat_insights", { token, body: {} }), /403/);

  await page.goto(`${demo.info.page_url}/insights/`);
  await page.getByLabel("E-mail").fill(demo.info.login.email);
  await page.getByLabel("Password").fill(demo.info.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("body[data-state=insights] .sections:not([aria-busy])").waitFor();
  const [questions, answered, cited, , opened] = await page.locator(".tile").allTextContents();
  assert.match(questions, /^Questions2/);
  assert.match(answered, /^Answered50%/);
  assert.match(cited, /^Answers with citations100%/);
  assert.match(opened, /^Citations opened2/);
  assert.equal(await page.getByRole("rowheader", { name: "Refunds and returns" }).count(), 1);
  assert.deepEqual(page.errors, []);
});

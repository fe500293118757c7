// The demo as it is deployed: the Worker serves page, widget and model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDemoSuite } from "../lib/demo-suite.mjs";

const { demo, page } = await startDemoSuite({ options: ["--like-production"], browser: {} });

test("the Worker serves the page, and the chat answers there, with files of this origin only", async () => {
  const { page_url: url, worker_url: worker, supabase_url: supabase } = demo.info;
  assert.equal(url, worker);
  const requests = [];
  page.on("request", (request) => requests.push(new URL(request.url())));
  const response = await page.goto(url);
  assert.match(
    response.headers()["content-security-policy"],
    /^default-src 'none';.* script-src 'self' 'wasm-unsafe-eval';/,
  );
  await page.locator("#auth-submit").click();
  await page.locator("body[data-view=chat]").waitFor();
  const chat = page.locator("evidence-chat");
  assert.equal(await chat.getAttribute("endpoint"), null);
  await chat.locator("[part~=input]").fill("Can I get my money back after two weeks?");
  await chat.locator("[part~=input]").press("Enter");
  await chat.locator("[part~=answer]").filter({ hasText: "30 days" }).waitFor();
  const origins = new Set(requests.filter(({ protocol }) => protocol.startsWith("http")).map(({ origin }) => origin));
  assert.deepEqual([...origins].sort(), [new URL(url).origin, new URL(supabase).origin].sort());
  for (const file of [/^\/evidence-chat\.js$/, /^\/assets\/.*\.js$/, /^\/panel-/, /\.safetensors\.gz$/]) {
    assert.ok(
      requests.some(({ pathname }) => file.test(pathname)),
      String(file),
    );
  }
  assert.deepEqual(page.errors, []);
});

test("the page is revalidated and its hashed files are kept for good", async () => {
  const caching = async (path) => (await fetch(demo.info.page_url + path)).headers.get("cache-control");
  const text = await (await fetch(demo.info.page_url)).text();
  const [script] = /\/assets\/[\w-]+\.js/.exec(text);
  assert.equal(await caching(script), "public, max-age=31536000, immutable");
  assert.equal(await caching("/"), "public, max-age=0, must-revalidate");
  assert.equal(await caching("/config.json"), "no-store");
});

test("the Worker serves the insights page, which learns from it where to sign in", async () => {
  const response = await page.goto(`${demo.info.page_url}/insights/`);
  assert.match(
    response.headers()["content-security-policy"],
    /^default-src 'none'; style-src 'self';.* script-src 'self';/,
  );
  await page.getByLabel("E-mail").fill(demo.info.login.email);
  await page.getByLabel("Password").fill(demo.info.login.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.locator("body[data-state=insights] .sections:not([aria-busy])").waitFor();
  assert.match(await page.locator(".tile").first().textContent(), /^Questions1/);
  assert.deepEqual(page.errors, []);
});

// A page of another origin that has only the tag: launcher, panel, embedder, model and answers come from one Worker.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ASSETS_DIR } from "../../local/worker/worker.mjs";
import { startStack } from "../integrations/support/stack.mjs";
import { collectErrors, openBrowser } from "../lib/browser.mjs";
import { listen } from "../lib/listen.mjs";
import { isModelCached } from "../lib/model-cache.mjs";

const QUESTION = "How long do I have to return an order?";

let chat, host, stack, browser, token;
/** The requests that reached the Worker, without preflights: paths, and the bytes of the bodies it sent. */
let requests = [];
/** Paths that a newer deployment no longer has. */
/** @type {(path: string) => boolean} */
let isGone = () => false;

before(async () => {
  chat = await listen((incoming, outgoing) => forward(incoming, outgoing));
  host = await listen((incoming, outgoing) => sendPage(incoming, outgoing));
  stack = await startStack({ CHAT_ALLOWED_ORIGINS: host.origin }, { assets: ASSETS_DIR });
  token = (await stack.user()).token;
  browser = await openBrowser();
});

after(async () => {
  await browser?.close();
  await host?.close();
  await chat?.close();
  await stack?.close();
});

beforeEach(() => {
  requests = [];
  isGone = () => false;
});

/** Passes a request on to the Worker, as Cloudflare does. */
function forward(incoming, outgoing) {
  const entry = { path: new URL(incoming.url, "http://x").pathname, bytes: 0, isSent: false };
  if (incoming.method !== "OPTIONS") requests.push(entry);
  const path = isGone(entry.path) ? "/gone.js" : incoming.url;
  const { hostname, port } = new URL(stack.worker.url);
  const { method, headers } = incoming;
  const sent = request({ hostname, port, path, method, headers: { ...headers, host: `${hostname}:${port}` } });
  sent.on("response", (response) => {
    outgoing.writeHead(response.statusCode, response.headers);
    response.on("data", (chunk) => (entry.bytes += chunk.length));
    response.on("end", () => (entry.isSent = true));
    response.pipe(outgoing);
  });
  sent.on("error", () => outgoing.destroy());
  incoming.pipe(sent);
}

/** The page, under the policy of the widget's README. */
function sendPage({ url }, response) {
  if (url === "/page.js") {
    const script = `document.querySelector("evidence-chat").tokenProvider = async () => ${JSON.stringify(token)};`;
    return response.writeHead(200, { "content-type": "text/javascript" }).end(script);
  }
  if (url !== "/") return response.writeHead(404).end();
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${chat.origin}`,
    "style-src 'self'",
    `worker-src ${chat.origin} blob:`,
    `connect-src ${chat.origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types evidence-chat-embedder",
  ].join("; ");
  response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy });
  response.end(`<!doctype html><html lang="en"><title>An empty page</title>
    <script type="module" src="${chat.origin}/evidence-chat.js"></script><evidence-chat></evidence-chat>
    <script src="/page.js"></script></html>`);
}

/** Opens the page in a new tab. */
async function open(t) {
  const page = collectErrors(await browser.page.context().newPage());
  t.after(() => page.close());
  await page.goto(host.origin);
  return page;
}

const input = (page) => page.locator("evidence-chat [part~=input]");

async function ask(page) {
  await input(page).fill(QUESTION);
  await input(page).press("Enter");
  const answer = page.locator("evidence-chat [part~=answer]").last();
  await answer.filter({ hasText: "You can return an order within 30 days." }).waitFor();
}

const paths = () => requests.map(({ path }) => path);
const matching = (pattern) => requests.filter(({ path }) => pattern.test(path));

test("the tag alone loads everything from the Worker and answers; the second visit loads no model and no chunk again", async (t) => {
  const page = await open(t);
  assert.equal(await page.locator("evidence-chat").evaluate((element) => element.endpoint), `${chat.origin}/api/chat`);
  await ask(page);
  assert.deepEqual(page.errors, []);
  for (const file of [
    /^\/evidence-chat\.js$/,
    /^\/panel-\w{8}\.js$/,
    /^\/texts-en-\w{8}\.js$/,
    /^\/worker-\w{8}\.js$/,
    /^\/embedder_(relaxed_)?bg-\w{8}\.wasm$/,
    /^\/all-MiniLM-L6-v2-int8-\w{8}\.safetensors\.gz$/,
    /^\/api\/config$/,
    /^\/api\/chat$/,
  ]) {
    assert.equal(matching(file).length, 1, `${file} in ${paths().join(", ")}`);
  }
  const [model] = matching(/all-MiniLM.*\.gz$/);
  assert.ok(model && model.bytes > 15_000_000 && model.bytes < 16_000_000, `${model?.bytes} bytes`);
  const others = requests
    // The reader is loaded after the answer.
    .filter((entry) => entry !== model && !/\/reader-/.test(entry.path))
    .reduce((sum, { bytes }) => sum + bytes, 0);
  t.diagnostic(`transferred: the model ${model.bytes} bytes, everything else ${others} bytes`);
  assert.ok(others < 400_000, `${others} bytes besides the model`);

  // The widget loads these after an answer, and the embedder stores model and reader when they are ready.
  const isLoaded = () => [/^\/answered-/, /^\/reader-\w{8}\.js$/].every((part) => matching(part)[0]?.isSent === true);
  const deadline = Date.now() + 30_000;
  while (!isLoaded() || !(await isModelCached(page, 2))) {
    assert.ok(Date.now() < deadline, `not stored after the first visit; requests: ${paths().join(", ")}`);
    await sleep(20);
  }
  await page.close();
  requests = [];
  const again = await open(t);
  await ask(again);
  assert.deepEqual(again.errors, []);
  assert.deepEqual(matching(/\.gz$|-\w{8}\.js$/), []);
  assert.deepEqual(
    matching(/\.(js|wasm)$/).filter(({ bytes }) => bytes > 0),
    [],
    "files that keep their names are revalidated",
  );
});

test("a page that was open during a deployment asks for a reload, and then works", async (t) => {
  // With an empty cache, as the browser of a visitor who has not opened the panel before.
  const fresh = await openBrowser();
  t.after(() => fresh.close());
  const { page } = fresh;
  await page.goto(host.origin);
  await input(page).waitFor();
  isGone = (path) => /^\/panel-/.test(path);
  await input(page).focus();
  const notice = page.locator("evidence-chat [data-role=load-failed]");
  await notice.waitFor();
  assert.match(await notice.innerText(), /reload the page/);
  isGone = () => false;
  await page.reload();
  await ask(page);
});

test("a model that is gone with the old deployment is an error that a reload repairs", async (t) => {
  const fresh = await openBrowser();
  t.after(() => fresh.close());
  const { page } = fresh;
  await page.goto(host.origin);
  isGone = (path) => path.endsWith(".gz");
  await input(page).focus();
  const notice = page.locator("evidence-chat [data-role=status][data-status=failed]");
  await notice.waitFor();
  assert.match(await notice.innerText(), /reload the page/);
  isGone = () => false;
  await page.reload();
  await ask(page);
});

// The packed widget, used as other people use it: by types, by a bundler's entry, and from a single script.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { openBrowser } from "../lib/browser.mjs";
import { serve } from "../lib/static-server.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

/** As the README asks for it. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; worker-src 'self'; connect-src 'self'; " +
  "require-trusted-types-for 'script'; trusted-types evidence-chat-embedder";
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const PACKAGE = "node_modules/@evidence-chat/widget";
/** Path of the package's `dist/` on the server. */
const DIST = "/@evidence-chat/widget/dist/";

let consumer, server, browser, page;

before(async () => {
  consumer = await createConsumer([EMBEDDER, WIDGET]);
  await consumer.write("node_modules", {
    "blank.html": "<!doctype html><title>blank</title>",
    "script.html":
      `<!doctype html><title>script</title><script type="module" src="${DIST}evidence-chat.js"></script>` +
      '<evidence-chat endpoint="/api/chat"></evidence-chat>',
  });
  server = await serve(consumer.path("node_modules"), { "content-security-policy": POLICY });
  browser = await openBrowser();
  page = browser.page;
});

after(async () => {
  await browser?.close();
  await server?.close();
  await consumer?.remove();
});

test("the package contains everything that it exports, with types", async () => {
  const { exports } = JSON.parse(await readFile(consumer.path(PACKAGE, "package.json"), "utf8"));
  const files = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry)));
  assert.ok(files.length >= 7);
  for (const file of files) assert.ok((await readFile(consumer.path(PACKAGE, file))).length > 0, file);
});

test("the package contains the licences of the embedder, no other libraries, and no tests, sources or demo", async () => {
  const names = await readdir(consumer.path(PACKAGE));
  assert.ok(names.includes("THIRD-PARTY.md"), names.join(", "));
  assert.deepEqual(await librariesIn(consumer.path(PACKAGE, "dist")), []);
  const all = await readdir(consumer.path(PACKAGE), { recursive: true });
  assert.deepEqual(
    all.filter((name) => /^(src|tests|demo|examples|dist\/demo|build)\b/.test(name)),
    [],
  );
});

/** Names of the packages that source maps mention. */
async function librariesIn(dist) {
  const maps = (await readdir(dist)).filter((name) => name.endsWith(".js.map"));
  const sources = await Promise.all(
    maps.map(async (name) => JSON.parse(await readFile(join(dist, name), "utf8")).sources),
  );
  const names = sources.flat().flatMap((source) => source.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []);
  return [...new Set(names)];
}

test("importing the class registers nothing; the other entry registers it and tolerates a second copy", async () => {
  await page.goto(`${server.origin}/blank.html`);
  const isDefined = () => page.evaluate(() => customElements.get("evidence-chat") !== undefined);
  await page.evaluate(`import("${DIST}index.js")`);
  assert.equal(await isDefined(), false);
  await page.evaluate(`import("${DIST}evidence-chat.js")`);
  assert.equal(await isDefined(), true);
  await page.evaluate(`import("${DIST}evidence-chat.js?copy")`);
  assert.deepEqual(page.errors, []);
});

test("one script and one tag suffice under a strict policy, and nothing else loads before the visitor interacts", async () => {
  page.errors.length = 0;
  await page.goto(`${server.origin}/blank.html`);
  server.requests.length = 0;
  await page.goto(`${server.origin}/script.html`);
  const input = page.locator("evidence-chat [part~=input]");
  await input.waitFor();
  await page.waitForTimeout(300);
  const loaded = server.requests.filter((path) => path !== "/favicon.ico");
  assert.deepEqual(loaded, ["/script.html", `${DIST}evidence-chat.js`]);
  await input.click();
  await page.locator("evidence-chat[data-state=ready]").waitFor();
  assert.ok(server.requests.some((path) => path.startsWith(`${DIST}panel-`)));
  assert.ok(!server.requests.some((path) => path.startsWith(`${DIST}references-`)));
  assert.deepEqual(page.errors, []);
});

test("a visitor downloads at most 8 kB at first, and 45.5 kB with the panel, without the embedder", async () => {
  const loaded = new Set();
  const sum = async () => {
    for (const path of server.requests)
      if (/\.(js|css)$/.test(path) && !/\/worker-\w+\.js$/.test(path)) loaded.add(path);
    const files = await Promise.all([...loaded].map((path) => readFile(consumer.path("node_modules", path))));
    return files.reduce((total, file) => total + brotliCompressSync(file).length, 0);
  };
  await page.goto(`${server.origin}/blank.html`);
  server.requests.length = 0;
  await page.goto(`${server.origin}/script.html`);
  const input = page.locator("evidence-chat [part~=input]");
  await input.waitFor();
  const launcher = await sum();
  assert.ok(launcher > 1_000 && launcher <= 8_000, `${launcher} bytes`);
  await input.click();
  await page.locator("evidence-chat[data-state=ready]").waitFor();
  const all = await sum();
  assert.ok(
    [...loaded].some((path) => path.includes("/texts-en-")),
    [...loaded].join(", "),
  );
  assert.ok(all > launcher && all <= 45_500, `${all} bytes`);
});

test("the types resolve under nodenext and bundler resolution", async () => {
  await consumer.write("types", {
    "main.ts": `
      import "@evidence-chat/widget/define";
      import { EvidenceChatElement, type EvidenceChatEventMap, type MessageDetail } from "@evidence-chat/widget";
      import { streamChat } from "@evidence-chat/widget/client";
      const chat = document.createElement("evidence-chat");
      chat.tokenProvider = async () => null;
      chat.mode = "floating";
      chat.addEventListener("message", (event) => {
        const { detail } = event as EvidenceChatEventMap["message"];
        const role: MessageDetail["role"] = detail.role;
        console.log(role, chat instanceof EvidenceChatElement, streamChat);
      });
      // @ts-expect-error a token alone is no provider
      chat.tokenProvider = "token";
      // @ts-expect-error there is no such place
      chat.mode = "sideways";
      export const asked: Promise<void> = chat.ask("How?");`,
  });
  for (const resolution of [
    ["--module", "nodenext"],
    ["--module", "esnext", "--moduleResolution", "bundler"],
  ]) {
    const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable"];
    await consumer.node(TSC, ...options, ...resolution, "types/main.ts");
  }
});

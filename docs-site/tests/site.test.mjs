// The built site in Chromium, as a static host serves it: no console errors, no requests to others, no broken link.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startSuite } from "../../tests/lib/suite.mjs";
import { listen } from "../../tests/lib/listen.mjs";
import { createDocsServer } from "../serve.mjs";
import { addressOf, PAGES, REPOSITORY } from "../pages.mjs";

const SITE = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(SITE, "dist");
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

await promisify(execFile)(process.execPath, [join(SITE, "build.mjs")], { maxBuffer: 2 ** 26 });

const { site, page } = await startSuite(() => listen(createDocsServer({}, DIST)));
/** Lines of the console and requests that a page must not have. */
let problems = [];
page.on("console", (message) => {
  if (["error", "warning"].includes(message.type())) problems.push(message.text());
});
page.on("pageerror", (error) => problems.push(String(error)));
page.on("request", (request) => {
  const isOwn = request.url().startsWith(site.origin) || /^(data|blob):/.test(request.url());
  if (!isOwn) problems.push(`request to ${request.url()}`);
});
page.on("response", (response) => {
  if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
});

async function open(/** @type {string} */ file) {
  problems = [];
  await page.goto(`${site.origin}/${addressOf(file)}`);
  // Rendered again in the browser.
  await page.waitForLoadState("networkidle");
}

describe("the built site", () => {
  test("links lead to pages and headings that exist", async () => {
    const files = (await readdir(DIST, { recursive: true })).filter((name) => name.endsWith(".html"));
    const pages = new Map();
    for (const name of files) pages.set(`/${name}`, await readFile(join(DIST, name), "utf8"));
    const broken = [];
    for (const [name, html] of pages) {
      for (const [, href] of html.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        if (!/^[/#.]/.test(href)) continue;
        const { pathname, hash } = new URL(href.replaceAll("&amp;", "&"), `http://x${name}`);
        const target = pages.get(pathname.replace(/\/$/, "/index.html"));
        const isThere =
          target !== undefined && (hash === "" || target.includes(`id="${decodeURIComponent(hash.slice(1))}"`));
        if (!isThere) broken.push(`${name}: ${href}`);
      }
    }
    assert.deepEqual(broken, []);
    assert.ok(pages.size > PAGES.size);
  });

  test("every file in docs/ is a page", async () => {
    const files = (await readdir(join(SITE, "../docs"))).filter((name) => name.endsWith(".md"));
    assert.deepEqual(
      files.filter((name) => !PAGES.has(`docs/${name}`)),
      [],
    );
  });

  test("llms.txt leads to the Markdown of the pages in the repository", async () => {
    const text = await (await fetch(`${site.origin}/llms.txt`)).text();
    const links = [...text.matchAll(/^- \[.+?\]\((.+?)(?:#.*)?\)$/gm)].map(([, url]) => url);
    assert.ok(links.length > 30);
    for (const url of links) {
      assert.ok(url.startsWith(`${REPOSITORY}/raw/main/`), url);
      assert.match(await readFile(join(SITE, "..", url.slice(`${REPOSITORY}/raw/main/`.length)), "utf8"), /^# /, url);
    }
  });

  for (const file of PAGES) {
    test(`${file} opens without errors and requests to others, and fits on a phone`, async () => {
      await open(file);
      assert.ok(((await page.locator("h1").first().textContent()) ?? "") !== "");
      await page.setViewportSize({ width: 360, height: 740 });
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      await page.setViewportSize({ width: 1280, height: 900 });
      assert.deepEqual([isWide, problems], [false, []]);
    });
  }

  for (const theme of /** @type {const} */ (["light", "dark"])) {
    for (const file of ["docs/index.md", "docs/benchmarks.md", "docs/http.md", "web/README.md"]) {
      test(`${file} has no accessibility problem in the ${theme} theme`, async () => {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
        await open(file);
        await page.evaluate(AXE);
        const found = await page.evaluate(async (rules) => {
          const { violations } = await globalThis["axe"].run(
            // VitePress labels its search button "Search", but it also shows the key.
            { exclude: [".DocSearch"] },
            { runOnly: rules },
          );
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
        }, RULES);
        assert.deepEqual(found, []);
      });
    }
  }

  test("the search finds a heading and opens it", async () => {
    await open("docs/start.md");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Changing keys");
    await page.locator(".VPLocalSearchBox .result.selected").filter({ hasText: "Changing keys" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("#changing-keys").waitFor();
    assert.deepEqual(problems, []);
  });
});

describe("the chat of the site", () => {
  test("a site without a chat server has no widget", async () => {
    await open("docs/start.md");
    assert.equal(await page.locator("evidence-chat").count(), 0);
  });

  test("the widget is loaded from the chat server, takes the theme, and stays on the next page", async (t) => {
    const script = "customElements.define('evidence-chat', class extends HTMLElement {});";
    const worker = await listen((_, response) =>
      response.writeHead(200, { "content-type": "text/javascript", "access-control-allow-origin": "*" }).end(script),
    );
    const settings = { CHAT_ENDPOINT: `${worker.origin}/api/chat`, SUPABASE_URL: "http://127.0.0.1:1" };
    const withChat = await listen(createDocsServer({ ...settings, SUPABASE_PUBLISHABLE_KEY: "key" }));
    t.after(() => Promise.all([worker.close(), withChat.close()]));
    await page.emulateMedia({ colorScheme: "dark" });
    await page.goto(`${withChat.origin}/start.html`);
    await page.evaluate(() => customElements.whenDefined("evidence-chat").then(() => undefined));
    const chat = page.locator("evidence-chat");
    const attributes = await chat.evaluate((node) =>
      Object.fromEntries([...node.attributes].map(({ name, value }) => [name, value])),
    );
    assert.deepEqual(attributes, {
      mode: "floating",
      heading: "Ask these docs",
      shortcut: "mod+i",
      theme: "dark",
      "supabase-url": settings.SUPABASE_URL,
      "supabase-key": "key",
    });
    await page.locator(".VPSidebar").getByText("Threat model").click();
    await page.waitForURL(/threat-model/);
    assert.equal(await chat.count(), 1);
  });
});

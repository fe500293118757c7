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
import { PAGES } from "../site-map.mjs";

const SITE = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(SITE, "dist");
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const QUESTION = "Can visitors ask without an account?";

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

/** The address of a page; a route ends in `/` or names a file. */
const address = (route) => `${site.origin}/${route === "index" ? "" : route.endsWith("/") ? route : `${route}.html`}`;

async function open(route) {
  problems = [];
  await page.goto(address(route));
  await page.locator(".site-chat evidence-chat").waitFor({ state: "attached" });
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
    assert.ok(pages.size > PAGES.length);
  });

  test("llms.txt leads to the Markdown of every page but the two that components draw", async () => {
    const text = await (await fetch(`${site.origin}/llms.txt`)).text();
    const links = [...text.matchAll(/^- \[.+?\]\((http.+?)\)/gm)].map(([, url]) => new URL(url).pathname);
    assert.equal(links.length, PAGES.length - 2);
    for (const path of links) {
      const response = await fetch(`${site.origin}${path}`);
      assert.ok(response.ok && (await response.text()).startsWith("# "), path);
    }
    assert.ok((await (await fetch(`${site.origin}/llms-full.txt`)).text()).length > 200_000);
  });

  for (const { route, title } of PAGES) {
    test(`"${title}" opens without errors and requests to others, and fits on a phone`, async () => {
      await open(route);
      assert.ok(((await page.locator("h1").first().textContent()) ?? "") !== "");
      await page.setViewportSize({ width: 360, height: 740 });
      const isWide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      await page.setViewportSize({ width: 1280, height: 900 });
      assert.deepEqual([isWide, problems], [false, []]);
    });
  }

  const looks = {
    light: ["index", "playground", "quality", "reference/http"],
    dark: ["index", "playground", "embed/reference"],
  };
  for (const [theme, routes] of Object.entries(looks)) {
    for (const route of routes) {
      test(`"${route}" has no accessibility problem in the ${theme} theme`, async () => {
        await page.emulateMedia({ colorScheme: /** @type {"light" | "dark"} */ (theme), reducedMotion: "reduce" });
        await open(route);
        if (["index", "playground"].includes(route)) await answered(page.locator(".home-chat, .stage")).waitFor();
        await page.evaluate(AXE);
        const found = await page.evaluate(async (rules) => {
          const { violations } = await globalThis["axe"].run(document, { runOnly: rules });
          return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
        }, RULES);
        assert.deepEqual(found, []);
      });
    }
  }
});

/** The citation badge of an answer in a widget below `place`. */
const answered = (place) => place.locator('[part~="marker"]').first();

describe("the chat of the site", () => {
  test("the start page says that a stand-in answers", async () => {
    await open("index");
    await page.locator("figcaption").filter({ hasText: "A stand-in in this page" }).waitFor();
  });

  test("Ctrl+K opens it, and it answers from the pages with a source that opens the page", async () => {
    await open("start");
    await page.keyboard.press("Control+k");
    const chat = page.locator(".site-chat evidence-chat");
    await page.waitForFunction(() => document.activeElement?.localName === "evidence-chat");
    await page.keyboard.type(QUESTION);
    await page.keyboard.press("Enter");
    await page.locator('.site-chat evidence-chat[data-state="ready"]').waitFor({ state: "attached" });
    await answered(chat).focus();
    const card = chat.locator('[data-role="citation-card"]');
    await card.waitFor();
    assert.match(await card.innerText(), /Verified quote/);
    const [link] = await chat.locator('[part="sources"] a, [part="citation-card"] a').all();
    const target = new URL(await link.getAttribute("href"));
    assert.equal(target.origin, site.origin);
    const response = await fetch(new URL(target.pathname, site.origin));
    assert.equal(response.status, 200);
    assert.match(await response.text(), new RegExp(`id="${target.hash.slice(1).replace(/:~:.*/, "")}"`));
    assert.deepEqual(problems, []);
  });

  test("it refuses what the pages do not say", async () => {
    await open("start");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("What is the capital of France?");
    await page.keyboard.press("Enter");
    await page.locator('.site-chat evidence-chat [part="refusal"]').waitFor();
    assert.deepEqual(problems, []);
  });
});

describe("the playground", () => {
  test("the tag has the chosen attributes, and the preview shows them", async () => {
    await open("playground");
    const hostile = `A "quoted" <b>&amp; ' title`;
    await page.getByLabel("Start", { exact: true }).check({ force: true });
    await page.getByLabel("Dark", { exact: true }).check({ force: true });
    await page.getByLabel("⌘K, Ctrl+K or / opens it").uncheck();
    await page.getByLabel("Title").fill(hostile);
    await page.getByLabel("Language").selectOption("ar");
    await page.getByRole("button", { name: "Colour #1d6044" }).click();
    const tag = await page.locator("pre.tag").innerText();
    // Not in the page itself, whose policy forbids the style sheet.
    const empty = await page.context().newPage();
    const parsed = await empty.evaluate((html) => {
      const parsed = new DOMParser().parseFromString(html, "text/html");
      const element = parsed.querySelector("evidence-chat");
      for (const code of parsed.querySelectorAll("script, style")) code.remove();
      return {
        attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
        others: parsed.querySelectorAll("head > *, body > *").length - 1,
        text: parsed.documentElement.textContent.trim(),
      };
    }, tag);
    await empty.close();
    const attributes = { mode: "floating", position: "start", shortcut: "off", lang: "ar", theme: "dark" };
    assert.deepEqual(parsed, { attributes: { ...attributes, heading: hostile }, others: 0, text: "" });
    assert.match(tag, /--evidence-chat-accent: #1d6044;/);
    const preview = page.locator(".stage evidence-chat");
    assert.equal(await preview.getAttribute("heading"), hostile);
    assert.equal(await preview.getAttribute("position"), "start");
    assert.equal(await preview.getAttribute("theme"), "dark");
    assert.equal(await preview.evaluate((node) => node.style.getPropertyValue("--evidence-chat-accent")), "#1d6044");
    assert.deepEqual(problems, []);
  });

  test("the copy button copies the tag and says so", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await open("playground");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await page.locator("pre.tag").innerText());
  });
});

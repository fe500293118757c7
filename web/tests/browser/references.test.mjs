// The export of references in real Chromium, under the strictest policy a page can have.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, test } from "node:test";
import axe from "axe-core";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { startReferencesSite } from "./pages/references/site.mjs";

/** Must be shown as text and never run. */
const HOSTILE = "<img src=/leak onerror=alert(1)><script>alert(2)</script>";

const { site, page } = await startSuite(startReferencesSite, {
  acceptDownloads: true,
  permissions: ["clipboard-read", "clipboard-write"],
});

beforeEach(async () => {
  page.errors.length = 0;
  site.requests.length = 0;
  await page.goto(site.origin);
  await page.evaluate((hostile) => {
    const citation = (document_id, fields) => ({
      index: 1,
      chunk_id: "c",
      document_id,
      score: 1,
      quotes: [],
      ...fields,
    });
    window.citations = [
      citation("a", { title: "Refunds", url: "https://shop.example/refunds" }),
      citation("b", { title: "دليل الإرجاع", page: 3 }),
      citation("b", { title: "دليل الإرجاع", page: 4 }),
      citation("c", { title: hostile, url: "javascript:alert(3)" }),
    ];
  }, HOSTILE);
});

const toggle = () => page.getByRole("button", { name: "Export references" }).first();
const preview = () => page.locator("[data-role=export-preview]").first();
const format = (name) => page.getByRole("radio", { name }).first();
const status = () => page.getByRole("status");

/** Opens the menu and waits for the first preview. */
async function open() {
  await toggle().click();
  await preview().filter({ hasText: "Refunds" }).waitFor();
}

test("the code that formats references is loaded when the menu opens", async () => {
  await toggle().waitFor();
  const before = [...site.requests];
  assert.equal(await toggle().getAttribute("aria-expanded"), "false");
  assert.equal(await preview().isVisible(), false);
  await open();
  assert.equal(await toggle().getAttribute("aria-expanded"), "true");
  assert.equal(site.requests.length, before.length + 1);
});

test("all formats work under a strict policy with Trusted Types; titles stay text and nothing is requested", async () => {
  await open();
  const loaded = site.requests.length;
  const expected = {
    APA: "Refunds. (n.d.). Retrieved",
    MLA: "Refunds. https://shop.example/refunds. Accessed",
    Chicago: "“Refunds.” n.d. Accessed",
    BibTeX: "@misc{refunds_",
    RIS: "TY  - ELEC\nTI  - Refunds",
    "CSL-JSON": '[\n  {\n    "id": "refunds_',
  };
  for (const [name, start] of Object.entries(expected)) {
    await format(name).check();
    await preview().filter({ hasText: start }).waitFor();
    const text = await preview().textContent();
    assert.ok(text.includes("دليل الإرجاع"), text);
    if (name === "CSL-JSON") assert.equal(JSON.parse(text).length, 3, text);
    else assert.equal(text.split("\n\n").length, 3, text);
    assert.equal(await preview().locator("*").count(), 0);
    if (name === "APA") assert.ok(text.includes(HOSTILE), text);
    assert.ok(!text.includes("javascript:"), text);
  }
  assert.equal(site.requests.length, loaded);
  assert.deepEqual(page.errors, []);
});

test("the policy of these tests blocks what it should", async () => {
  const stopped = await page.evaluate(async () => {
    // The policy does not apply to code that the test evaluates, but to the tasks that it starts.
    await new Promise((resolve) => setTimeout(resolve));
    const attempt = (action) => {
      try {
        action();
        return false;
      } catch {
        return true;
      }
    };
    return [
      attempt(() => (document.body.innerHTML = "x")),
      attempt(() => new DOMParser().parseFromString("<a/>", "text/xml")),
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the policy must forbid it
      attempt(() => new Function("")),
    ];
  });
  assert.deepEqual(stopped, [true, true, true]);
});

test("the Copy button copies the preview", async () => {
  await open();
  await page.getByRole("button", { name: "Copy" }).first().click();
  await status().filter({ hasText: "Copied" }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await preview().textContent());
});

test("a blocked clipboard is reported", async () => {
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException("no", "NotAllowedError"));
  });
  await open();
  await page.getByRole("button", { name: "Copy" }).first().click();
  await status().filter({ hasText: "Could not copy" }).waitFor();
});

for (const [name, file] of [
  ["MLA", "references.txt"],
  ["BibTeX", "references.bib"],
  ["RIS", "references.ris"],
  ["CSL-JSON", "references.json"],
]) {
  test(`${name} is downloaded as ${file}, and its blob URL is revoked`, async () => {
    await page.clock.install();
    await page.evaluate(() => {
      window.revoked = [];
      const revoke = URL.revokeObjectURL.bind(URL);
      URL.revokeObjectURL = (url) => (window.revoked.push(url), revoke(url));
    });
    await open();
    await format(name).check();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).first().click();
    const download = await downloading;
    assert.equal(download.suggestedFilename(), file);
    assert.equal(await readFile(await download.path(), "utf8"), `${await preview().textContent()}\n`);
    await page.clock.fastForward("02:00");
    await page.waitForFunction(() => window.revoked.length === 1);
    assert.deepEqual(page.errors, []);
  });
}

test("a failed load is reported, and another click tries again", async () => {
  await page.route("**/*.js", (route) => route.abort());
  await toggle().click();
  await status().filter({ hasText: "The references could not be formatted." }).waitFor();
  assert.equal(await toggle().getAttribute("aria-expanded"), "false");
  assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 0);
  await page.unrouteAll();
  await open();
  assert.equal(await status().filter({ hasText: "could not be formatted" }).count(), 0);
});

test("an answer without sources has nothing to copy", async () => {
  await page.evaluate(() => (window.citations = []));
  await toggle().click();
  await page.waitForFunction(() => {
    const preview = document.querySelector("main").shadowRoot.querySelector("[data-role=export-preview]");
    return preview?.textContent === "";
  });
  assert.equal(await page.getByRole("button", { name: "Download" }).first().isDisabled(), true);
});

test("the keyboard is enough to open, choose and close with Escape", async () => {
  await toggle().focus();
  await page.keyboard.press("Enter");
  await preview().filter({ hasText: "Refunds" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await format("APA").evaluate((input) => input.matches(":focus")), true);
  await page.keyboard.press("ArrowRight");
  assert.equal(await format("MLA").isChecked(), true);
  await preview().filter({ hasText: "Accessed" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await preview().evaluate((pre) => pre.matches(":focus")), true);
  await page.keyboard.press("Escape");
  assert.equal(await preview().isVisible(), false);
  assert.equal(await toggle().evaluate((button) => button.matches(":focus")), true);
});

test("the formats of two menus are independent", async () => {
  await open();
  await page.getByRole("button", { name: "Export references" }).nth(1).click();
  await page.getByRole("radio", { name: "BibTeX" }).first().check();
  const checked = await page.getByRole("radio", { checked: true }).evaluateAll((all) => all.map(({ value }) => value));
  assert.deepEqual(checked, ["bibtex", "apa"]);
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe finds no violation at 320 pixels (${colorScheme})`, async () => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 320, height: 700 });
    await open();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    const sizes = await page
      .getByRole("radio")
      .evaluateAll((all) => all.map((input) => input.closest("label").getBoundingClientRect().height));
    assert.ok(
      sizes.slice(0, 6).every((height) => height >= 24),
      String(sizes),
    );
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() => window.axe.run(document.querySelector("main").shadowRoot.host));
    assert.deepEqual(
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      [],
    );
  });
}

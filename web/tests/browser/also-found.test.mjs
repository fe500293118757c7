// Also-found passages and hedged answers. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, citation, found, refusal, SESSION, whole } from "./support/answers.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open } = await startWidgetSuite();

const HEDGE = "These passages are on topic but may not answer your question.";
const DOWNLOAD = "77e4f5de-3d6c-4f52-9f0a-3a7a2a0e5b12";
const FOUND = [
  found({
    url: "https://shop.example/deliveries",
    excerpt: "Abroad\n\nWe deliver abroad.",
    blocks: {
      blocks: [
        { kind: "heading", start: 0, end: 6 },
        { kind: "paragraph", start: 8, end: 26 },
      ],
    },
  }),
  found({
    document_id: DOWNLOAD,
    title: "Customs",
    section: undefined,
    page: 2,
    download_url: `https://chat.example/api/documents/${DOWNLOAD}/download`,
    excerpt: "Customs apply.",
  }),
  found({ title: "Parcels", section: "Parcels › Sizes", excerpt: "Parcels are small." }),
];

/** Makes the API serve the file. */
function serveFile() {
  site.api.interfere = ({ path }, response) => {
    if (path !== `/api/documents/${DOWNLOAD}/download`) return false;
    response.writeHead(200, { "content-disposition": 'attachment; filename="customs.pdf"' }).end("file");
    return true;
  };
}

test("also-found passages are listed below the sources, closed, with passage and links", async (t) => {
  site.api.respondWith(whole(answer({ also_found: FOUND })));
  const widget = await open(t);
  const reply = await widget.ask(QUESTION);
  assert.equal(await widget.all("source").count(), 1);
  assert.equal(await reply.locator(".sources-label").innerText(), "1 source");
  const list = widget.role("also-found");
  assert.equal(await list.getAttribute("open"), null);
  assert.equal(await widget.role("found").isVisible(), false);
  const summary = list.locator("> summary");
  assert.equal(await summary.innerText(), "Also found (3)");
  assert.ok((await summary.boundingBox()).y > (await widget.role("source").boundingBox()).y);

  await summary.focus();
  await widget.page.keyboard.press("Enter");
  const entries = widget.all("found");
  assert.deepEqual(
    (await entries.allInnerTexts()).map((text) => text.split("\n")),
    [
      ["Deliveries", "Abroad"],
      ["Customs", "Page 2"],
      ["Parcels", "Sizes"],
    ],
  );
  for (const summary of await entries.locator("summary").all()) await summary.press("Enter");
  const excerpts = await entries.locator("[data-role=excerpt]").allInnerTexts();
  // Browsers differ in the line breaks between blocks.
  assert.deepEqual(
    excerpts.map((text) => text.replace(/\n+/g, "\n")),
    ["Abroad\nWe deliver abroad.", "Customs apply.", "Parcels are small."],
  );
  assert.equal(await entries.locator("mark, [data-role=verified-quote], [data-role=score]").count(), 0);
  const link = entries.nth(0).locator("[data-role=source-link]");
  assert.equal(await link.getAttribute("href"), "https://shop.example/deliveries");
  assert.equal(await entries.nth(2).locator("a, button").count(), 0);
  serveFile();
  const [download] = await Promise.all([
    widget.page.waitForEvent("download"),
    entries.nth(1).getByRole("button", { name: "Download original" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "customs.pdf");
  assert.deepEqual(await widget.events("citation-open"), [], "it is not a citation");
});

test("exports, copies and the message event have only quoted documents as sources", async (t) => {
  site.api.respondWith(whole(answer({ also_found: FOUND })));
  const widget = await open(t);
  await widget.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
  await widget.ask(QUESTION);
  for (const role of ["copy", "copy-markdown"]) {
    await widget.role(role).click();
    await widget.role(role).filter({ hasText: "Copied" }).waitFor();
    const copied = await widget.page.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /Refunds/);
    assert.doesNotMatch(copied, /Deliveries|Customs|Parcels|also found/i, role);
  }
  await widget.role("export").click();
  for (const style of ["APA", "BibTeX"]) {
    await widget.element.getByLabel(style).check();
    await widget.until(
      async () => /Refunds/.test(await widget.role("export-preview").textContent()),
      "the references in that style",
    );
    assert.doesNotMatch(await widget.role("export-preview").textContent(), /Deliveries|Customs|Parcels/, style);
  }
  const { detail } = (await widget.events("message")).at(-1);
  assert.deepEqual(
    [detail.citations.map(({ title }) => title), detail.alsoFound.map(({ title }) => title), detail.hedged],
    [["Refunds"], ["Deliveries", "Customs", "Parcels"], false],
  );
});

test("an also-found document does not count as an agreeing source", async (t) => {
  const same = citation({ index: 2, chunk_id: "c2", document_id: "d2", title: "Money" });
  const other = found({ excerpt: "Refunds are paid within 5 days." });
  site.api.respondWith(
    whole(
      answer({
        deltas: ["Refunds are paid within 5 days. [1] [2]"],
        citations: [citation(), same],
        also_found: [other],
      }),
    ),
  );
  const widget = await open(t);
  await widget.ask(QUESTION);
  assert.equal(await widget.role("agreement").innerText(), "2 of 2 sources agree");
});

test("there is no also-found list without also-found passages", async (t) => {
  const widget = await open(t);
  await widget.ask(QUESTION);
  assert.equal(await widget.all("also-found").count(), 0);
  assert.equal(await widget.all("hedge").count(), 0);
});

test("a hedged answer has its warning above the text, announced, in copies, and in the history", async (t) => {
  site.api.respondWith(whole(answer({ hedged: true })));
  const at = "2026-11-01T10:00:00Z";
  site.api.sessions = [{ id: SESSION, title: "Of old", created_at: at, updated_at: at }];
  site.api.messages.set(SESSION, [
    { id: "q", role: "user", content: QUESTION, citations: [], created_at: at },
    { id: "a", role: "assistant", content: "Refunds. [1]", citations: [citation()], hedged: true, created_at: at },
    { id: "b", role: "assistant", content: "Sure. [1]", citations: [citation()], hedged: false, created_at: at },
  ]);
  const widget = await open(t);
  await widget.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
  await widget.ask(QUESTION);
  const hedge = widget.role("hedge");
  assert.deepEqual([await hedge.innerText(), await hedge.getAttribute("role")], [HEDGE, "note"]);
  assert.ok((await hedge.boundingBox()).y < (await widget.role("answer").boundingBox()).y);
  assert.ok((await widget.role("announcer").innerText()).startsWith(`Answer: ${HEDGE}`));
  await widget.role("copy").click();
  await widget.role("copy").filter({ hasText: "Copied" }).waitFor();
  assert.equal(
    await widget.page.evaluate(() => navigator.clipboard.readText()),
    `${HEDGE}\n\nRefunds are paid within 5 days. [Refunds]`,
  );
  const { detail } = (await widget.events("message")).at(-1);
  assert.deepEqual([detail.hedged, detail.text], [true, "Refunds are paid within 5 days. [1]"]);

  await widget.role("history-open").click();
  await widget.role("session-open").click();
  await widget.element.getByText("Sure.").waitFor();
  assert.deepEqual(await widget.all("hedge").allInnerTexts(), [HEDGE]);
  assert.match(await widget.all("assistant").first().innerText(), /^These passages/);
});

test("a retry without a hedge removes the warning", async (t) => {
  const [start, first] = answer({ hedged: true });
  site.api.respondWith(whole([start, first]), whole(answer()));
  const widget = await open(t);
  await widget.ask(QUESTION, "failed");
  assert.equal(await widget.all("hedge").count(), 1);
  await widget.role("retry").click();
  await widget.reply("done");
  assert.equal(await widget.all("hedge").count(), 0);
});

test("the nearest passages of a refusal link to their documents", async (t) => {
  site.api.respondWith(whole(refusal({ nearest: FOUND.map(({ excerpt: _, ...passage }) => passage) })));
  serveFile();
  const widget = await open(t);
  await widget.ask(QUESTION, "refused");
  const items = widget.role("nearest").locator("li");
  assert.deepEqual(await items.allInnerTexts(), ["Deliveries › Abroad", "Customs · Page 2", "Parcels › Sizes"]);
  const link = items.nth(0).locator("a");
  assert.equal(await link.getAttribute("href"), "https://shop.example/deliveries");
  assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
  assert.equal(await items.nth(2).locator("a, button").count(), 0, "a passage without a link or file has no control");
  const [download] = await Promise.all([
    widget.page.waitForEvent("download"),
    widget.role("nearest").getByRole("button", { name: "Customs · Page 2" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "customs.pdf");
});

for (const [lang, direction] of [
  ["ar", "rtl"],
  ["de", "ltr"],
]) {
  test(`hedge, also-found and nearest passages are in the widget's language: ${lang}`, async (t) => {
    site.api.respondWith(whole(answer({ hedged: true, also_found: FOUND })), whole(refusal({ nearest: FOUND })));
    const widget = await open(t, { attributes: { lang } });
    await widget.ask(QUESTION);
    assert.equal(await widget.role("hedge").evaluate((each) => getComputedStyle(each).direction), direction);
    assert.doesNotMatch(await widget.role("hedge").innerText(), /passages/);
    const summary = widget.role("also-found").locator("> summary");
    assert.doesNotMatch(await summary.innerText(), /Also/);
    await summary.click();
    await widget.role("found").locator("summary").click();
    const log = widget.role("log");
    assert.equal(await log.evaluate((each) => each.scrollWidth <= each.clientWidth), true);
    await widget.ask(QUESTION, "refused");
    assert.doesNotMatch(await widget.role("nearest").innerText(), /Closest/);
  });
}

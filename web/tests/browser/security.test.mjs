// Puts every payload of the corpus into every place that shows text of documents, servers and visitors, in real Chromium: all
// of it must stay text. Runs under the strict policy and without one, because a policy would hide a defect.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { answer, citation, generated, quoteOf, refusal, report, SESSION, whole } from "./support/answers.mjs";
import { openWidgetPage } from "./pages/widget/page.mjs";
import { startWidgetSite } from "./pages/widget/site.mjs";

const CORPUS = new URL("../corpora/dompurify/payloads.json", import.meta.url);

/** The elements that the widget creates; a payload that became an element would show as another one. */
const OWN_TAGS = (
  "a article bdi blockquote br button code details div em fieldset form h2 h3 header i input label legend li mark ol p " +
  "path pre progress s section slot small span strong summary svg table tbody td textarea th thead time tr ul"
).split(" ");

/** The allowed targets of links. */
const LINKS = /^(https?:\/\/|mailto:|blob:)/;

const payloads = JSON.parse(await readFile(CORPUS, "utf8"))
  .map(({ payload }) => payload)
  .filter((payload) => payload.trim() !== "");

// Not startWidgetSuite, which resets the API before each subtest.
const { site, browser } = await startSuite(startWidgetSite);

/** A quoted passage with the payload in every field; every other one is laid out. */
function hostileCitation(payload, position) {
  const excerpt = `A passage. ${payload}\n\nIt ends.`;
  const blocks = {
    blocks: [{ kind: position % 3 ? "item" : "code", start: 0, end: excerpt.length, text: 11, depth: position }],
    marks: [{ kind: position % 5 ? "link" : "code", start: 11, end: 11 + payload.length }],
  };
  return citation({
    index: position + 1,
    chunk_id: payload,
    document_id: `document-${position}`,
    title: payload,
    section: payload,
    url: position % 2 ? payload : `javascript:${payload}`,
    download_url: payload,
    content_type: position % 2 ? payload : "text/plain",
    excerpt,
    ...(position % 2 && { blocks }),
    quotes: [
      quoteOf(excerpt, "A passage."),
      {
        ...{ start: 11, end: 11 + payload.length, text: payload, kind: payload, plain: payload, whole: payload },
        pieces: [{ text: payload, role: payload }, { text: payload }],
      },
    ],
  });
}

/** A passage whose words support a generated sentence, with the payload in every field. */
function hostileSupport(payload, position) {
  const { quotes, ...passage } = hostileCitation(payload, position);
  return { ...passage, quotes: [], supports: quotes.map((quote) => ({ ...quote, sentence: position })) };
}

/** An also-found passage with the payload in every field. */
function hostilePassage(payload, position = 0) {
  const { index: _, quotes: __, strength: ___, ...passage } = hostileCitation(payload, position);
  return passage;
}

/** A simulated API with the corpus in every field. */
function fillApi(api) {
  api.reset();
  api.config = {
    ...api.config,
    greeting: payloads.join("\n"),
    suggested_questions: payloads,
    answer_mode: "endpoint",
    sends_to: payloads.join("\n"),
  };
  api.sessions = payloads.map((title, position) => ({
    id: position === 0 ? SESSION : `session-${position}`,
    title,
    created_at: "2026-11-20T10:00:00Z",
    updated_at: "2026-11-20T10:00:00Z",
  }));
  api.messages.set(
    SESSION,
    payloads.flatMap((content, position) => [
      { id: `q-${position}`, role: "user", content, citations: [], created_at: content },
      {
        id: content,
        role: "assistant",
        content: `${content} [1]`,
        citations: [{ ...hostileCitation(content, 0), available: position % 2 === 0 }],
        created_at: "2026-11-20T10:00:00Z",
      },
    ]),
  );
}

// Without a policy, which would keep scripts from running. The other tests use the strict one.
test("every XSS payload stays text in every place, also on a page without a policy", async (t) => {
  fillApi(site.api);
  const dialogs = [];
  const widget = await openWidgetPage(t, browser, site, {
    csp: null,
    attributes: { "support-url": "javascript:alert(1)" },
    setUp: async (page) => {
      page.on("dialog", (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
    },
  });
  const { page } = widget;
  await widget.role("input").waitFor();
  const untouched = await outside(page);
  const check = async (place) => {
    assert.deepEqual(await findings(page), [], place);
    assert.deepEqual(dialogs, [], place);
    assert.deepEqual(await outside(page), untouched, place);
  };
  /** The texts of all parts with that role, which proves that the payloads are shown. */
  const texts = (role) => widget.all(role).evaluateAll((parts) => parts.map(({ textContent }) => textContent));

  await t.test("payloads stay text in greeting and suggested questions", async () => {
    await widget.role("input").hover();
    await widget.all("suggested").first().waitFor();
    const shown = await texts("suggested");
    assert.ok(shown.length > 0);
    for (const text of shown) assert.ok(payloads.includes(text), text);
    assert.ok((await widget.role("log").evaluate((log) => log.textContent)).includes(payloads[3]));
    await check("greeting");
  });

  await t.test("payloads stay text in the notice about the service that gets questions", async () => {
    const [notice] = await texts("privacy");
    assert.ok(notice.includes(payloads[3]));
    await check("privacy notice");
    await widget.role("privacy-dismiss").click();
  });

  await t.test("payloads stay text in questions, refusals, their suggestions and nearest documents", async () => {
    const groups = Array.from({ length: Math.ceil(payloads.length / 6) }, (_, group) =>
      payloads.slice(6 * group, 6 * group + 6),
    );
    const messages = groups.map((group) => group.join("\n"));
    for (const [position, group] of groups.entries()) {
      const nearest = group.map((title) => ({ ...hostilePassage(title), section: undefined, page: undefined }));
      const suggestions = group.map((text) => ({ type: "ask", text }));
      // The page's own address is hostile, so this one is not used.
      suggestions.push({ type: "contact", text: group[0], url: `https://example.com/${group[0]}` });
      site.api.respondWith(whole(refusal({ message: messages[position], suggestions, nearest })));
      await widget.call("ask", messages[position]);
    }
    assertShown(
      await texts("user"),
      messages.map((message) => message.trim()),
    );
    assertShown(await texts("refusal-message"), messages);
    assertShown(
      (await texts("suggestion")).filter((text) => text !== "Contact support"),
      payloads,
    );
    assert.equal(await widget.all("contact").count(), 0);
    assertShown(
      await widget.all("nearest").locator("li").allTextContents(),
      payloads.map((payload) => payload.trim()),
    );
    await check("refusals");
    await widget.call("clear");
  });

  await t.test("payloads stay text in errors", async () => {
    for (const payload of payloads.slice(0, 20)) {
      const error = { code: payload, message: payload, retryable: true, request_id: payload };
      site.api.respondWith(whole([["error", error]]));
      await widget.call("ask", "Why?");
    }
    assert.equal(await widget.all("error").count(), 20);
    await check("errors");
    await widget.call("clear");
  });

  await t.test("payloads stay text in an answer: text, titles, sections, addresses, passages, quotes", async () => {
    const deltas = payloads.map((payload, position) => `${payload} [${position + 1}] `);
    site.api.respondWith(
      whole(answer({ deltas, citations: payloads.map(hostileCitation), also_found: payloads.map(hostilePassage) })),
    );
    await widget.call("ask", "Show me all of it.");
    const reply = await widget.reply("done");
    assert.equal(await widget.all("found").count(), payloads.length);
    assert.ok((await reply.evaluate((element) => element.textContent)).includes(payloads[7]));
    await check("answer");
    await openEverything(widget);
    const shown = await reply.evaluate((element) => element.textContent);
    assert.ok(payloads.filter((payload) => shown.includes(payload)).length > payloads.length / 2);
    await check("answer with everything open");
    await showCards(widget, 10);
    await check("cards");
    await exportReferences(widget);
    await check("references");
  });

  await t.test("payloads stay text in a generated answer, its report and its source sentences", async () => {
    await widget.call("clear");
    const deltas = payloads.map((payload, position) => `${payload} [${position + 1}]`);
    const generation = report({ model: payloads[0], dropped: { [payloads[1]]: 2, name: 1 }, fallback: payloads[2] });
    site.api.respondWith(whole(generated({ deltas, citations: payloads.map(hostileSupport), generation })));
    await widget.call("ask", "Write all of it.");
    const reply = await widget.reply("done");
    assert.match(await widget.role("left-out").textContent(), /^3 sentences/);
    assert.ok((await reply.evaluate((element) => element.textContent)).includes(payloads[7]));
    await openEverything(widget);
    await check("generated answer with everything open");
    await showCards(widget, 10);
    await check("cards of a generated answer");
  });

  await t.test("payloads stay text in the history and in a conversation opened from it", async () => {
    await widget.call("clear");
    await widget.role("history-open").click();
    await widget.all("session").first().waitFor();
    await widget.role("history-more").click();
    await widget.until(async () => (await widget.all("session").count()) > 20, "a second page");
    const titles = await widget.all("session-open").allTextContents();
    assert.ok(titles.every((title, position) => title.includes(payloads[position].trim())));
    await check("history");
    await widget.all("session-rename").nth(3).click();
    assert.equal(await widget.role("rename-input").inputValue(), payloads[3]);
    await check("rename");
    await widget.page.keyboard.press("Escape");
    await widget.all("session-delete").nth(5).click();
    await widget.role("undo").waitFor();
    await check("delete");
    await widget.all("session-open").first().click();
    await widget.until(async () => (await widget.all("user").count()) === payloads.length, "all questions");
    assertShown(await texts("user"), payloads);
    await check("restored conversation");
    await openEverything(widget);
    await check("restored conversation with everything open");
  });

  const foreign = widget.urls.filter((url) => ![site.origin, site.api.origin].includes(new URL(url).origin));
  assert.deepEqual(foreign, [], "no request to another origin");
  // Proves that the check detects a foreign element.
  await page.evaluate(() => {
    const shadow = document.querySelector("evidence-chat").shadowRoot;
    const link = document.createElement("a");
    link.setAttribute("href", "javascript:1");
    shadow.append(document.createElement("img"), link);
    globalThis.marker = true;
  });
  assert.deepEqual(await findings(page), ["<img>", 'href="javascript:1"']);
  assert.notDeepEqual(await outside(page), untouched);
});

/** Compares without printing the payloads. */
function assertShown(actual, expected) {
  assert.equal(actual.length, expected.length);
  for (const [position, text] of actual.entries()) assert.equal(text, expected[position]);
}

/** Everything foreign in the widget: elements, handlers, URLs. */
function findings(page) {
  return page.evaluate(
    ([tags, links]) => {
      const found = [];
      const isAllowed = new RegExp(links);
      /** @type {NodeListOf<HTMLElement>} */
      const nodes = document.querySelector("evidence-chat").shadowRoot.querySelectorAll("*");
      for (const node of nodes) {
        if (!tags.includes(node.localName)) found.push(`<${node.localName}>`);
        if (node.localName === "svg" && node.getAttribute("class") !== "icon") found.push("<svg>");
        if (["form", "textarea"].includes(node.localName) && !node.dataset.role) found.push(`<${node.localName}>`);
        for (const { name, value } of node.attributes) {
          const isAddress = ["href", "src", "action", "formaction", "srcset", "data", "ping", "background"].includes(
            name,
          );
          const isHandler = name.startsWith("on") || name === "srcdoc" || name.includes(":");
          if (isHandler || (isAddress && !isAllowed.test(value))) found.push(`${name}="${value}"`);
          if (name === "style" && /url|expression|import/i.test(value)) found.push(`style="${value}"`);
        }
      }
      return found;
    },
    [OWN_TAGS, LINKS.source],
  );
}

/** The state that must not change: the page around the widget, its URL, and the names of all globals. */
function outside(page) {
  return page.evaluate(() => ({
    url: location.href,
    title: document.title,
    cookie: document.cookie,
    elements: [...document.querySelectorAll("*")].map(({ localName }) => localName),
    // Firefox lists its own in the order of their first use.
    globals: Object.getOwnPropertyNames(globalThis)
      .filter((name) => !/^\d+$/.test(name))
      .sort(),
  }));
}

/** Opens every source and passage. */
async function openEverything(widget) {
  await widget.element.evaluate(({ shadowRoot }) => {
    for (const more of shadowRoot.querySelectorAll("[data-role=more-sources]")) more.click();
    for (const details of shadowRoot.querySelectorAll("details")) details.open = true;
  });
  await widget.until(
    () =>
      widget.element.evaluate(
        ({ shadowRoot }) => shadowRoot.querySelectorAll(".source:not(:has([data-role=excerpt]))").length === 0,
      ),
    "passages in all sources",
  );
}

/** Shows the cards of the first badges, one after the other. */
async function showCards(widget, count) {
  const badges = widget.role("assistant").locator("[data-role=marker]");
  for (let position = 0; position < count; position++) {
    const card = await widget.openCard(badges.nth(position));
    await card.filter({ hasText: payloads[position].trim().slice(0, 15) }).waitFor();
  }
}

async function exportReferences(widget) {
  const { page } = widget;
  await widget.role("assistant").getByRole("button", { name: "Export references" }).click();
  const preview = widget.role("export-preview");
  await widget.until(async () => (await preview.textContent()).length > 1000, "the references");
  await page.waitForTimeout(100);
}

// Accessibility: axe in every state, keyboard, screen reader announcements, small and zoomed windows.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  answer,
  citation,
  cutAfter,
  bytesUntil,
  failure,
  found,
  generated,
  json,
  refusal,
  report,
  result,
  SESSION,
  silence,
  stepwise,
  supporting,
  whole,
} from "./support/answers.mjs";
import { readModel } from "./pages/widget/site.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const SCRIPTED_WRITER = await readFile(new URL("support/scripted-writer.mjs", import.meta.url));
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const { site, browser, open } = await startWidgetSuite();
const model = await readModel();

const DOCUMENTS = [1, 2, 3, 4, 5].map((index) =>
  citation({
    index,
    chunk_id: `chunk-${index}`,
    document_id: `3f333df6-90a4-4fda-8dd3-9485d27cee3${index}`,
    title: `Document ${index}`,
    strength: ["strong", "good", "partial"][index % 3],
    download_url: `https://chat.example/api/documents/${index}/download`,
  }),
);
/** Also-found passages: one with a link, one with a download, one with neither. */
const FOUND = [
  found({ url: "https://shop.example/deliveries", excerpt: "We deliver abroad." }),
  found({ title: "Customs", download_url: "https://chat.example/api/documents/2/download", excerpt: "Customs apply." }),
  found({ title: "Parcels", page: 3, excerpt: "Parcels are small." }),
];
const LONG_ANSWER = answer({ deltas: ["Refunds are paid within 5 days. [1] [2]"], citations: DOCUMENTS });

const RESULTS = [
  result(),
  result({ title: "A page with a long name that has to wrap somewhere", section: "Fees › Cards › Abroad" }),
  result({ title: "Printed", url: undefined }),
];

async function typeInto(widget) {
  await widget.role("input").focus();
  await widget.becomes("ready");
  await widget.role("input").pressSequentially("When are refunds paid");
}

/** Waits for what screen readers announce after a while. */
async function announces(widget) {
  await widget.role("announcer").filter({ hasText: /\S/ }).waitFor();
}

/**
 * How to reach each state: `before` prepares the site, `reach` continues on the open page.
 * `forget`: a first visit; `hasClock`: the page has a clock that `reach` can advance; `pagePerLook`: the state does not last,
 * or does not survive a change of the look, so it is reached again for each look.
 */
const STATES = {
  start: { reach: (widget) => widget.role("greeting").waitFor() },
  "suggested questions": {
    before: () =>
      (site.api.config = { ...site.api.config, greeting: "Ask us.", suggested_questions: ["When?", "How?"] }),
    async reach(widget) {
      await widget.role("input").focus();
      await widget.all("suggested").nth(1).waitFor();
    },
  },
  "instant results": {
    before: () => (site.api.search = json(200, { results: RESULTS })),
    async reach(widget) {
      await typeInto(widget);
      await widget.all("result").nth(2).waitFor();
      await announces(widget);
      await widget.role("input").press("ArrowDown");
    },
  },
  "passage of an instant result": {
    before: () => (site.api.search = json(200, { results: RESULTS })),
    async reach(widget) {
      await typeInto(widget);
      await announces(widget);
      await widget.all("result").nth(2).click();
      await widget.role("result-passage").waitFor();
    },
  },
  waiting: { before: () => site.api.respondWith(silence), reach: (widget) => widget.ask(QUESTION, "pending") },
  streaming: {
    before() {
      const steps = stepwise(answer());
      site.api.respondWith(steps);
      steps.step(2);
    },
    reach: (widget) => widget.ask(QUESTION, "streaming"),
  },
  answer: { before: () => site.api.respondWith(whole(LONG_ANSWER)), reach: (widget) => widget.ask(QUESTION) },
  card: {
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("marker").focus();
      await widget.role("citation-card").waitFor();
    },
  },
  passage: {
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("marker").click();
      await widget.element.locator("details[open]").waitFor();
    },
  },
  references: {
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("export").click();
      await widget.role("export-preview").filter({ hasText: "Refunds" }).waitFor();
    },
  },
  refusal: {
    before: () =>
      site.api.respondWith(
        whole(
          refusal({
            nearest: FOUND,
            suggestions: [
              { type: "contact", text: "Contact support", url: "mailto:help@example.com" },
              { type: "rephrase", text: "Rephrase your question" },
              { type: "ask", text: "How do I return an order?" },
            ],
          }),
        ),
      ),
    reach: (widget) => widget.ask(QUESTION, "refused"),
  },
  "searched together with the question before, and longer than the model reads": {
    before: () =>
      site.api.respondWith(whole(answer()), whole(answer({ searched: `How long? ${QUESTION}`, truncated: true }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.ask("How long?");
      await widget.role("searched").waitFor();
    },
  },
  "a refusal of a question searched together with the one before": {
    before: () => site.api.respondWith(whole(answer()), whole(refusal({ searched: `How long? ${QUESTION}` }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.ask("How long?", "refused");
      await widget.role("searched").waitFor();
    },
  },
  "hedged, with what was also found": {
    before: () => site.api.respondWith(whole(answer({ hedged: true, also_found: FOUND }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("hedge").waitFor();
      await widget.role("also-found").locator("summary").first().click();
      await widget.role("found").locator("summary").click();
      await widget.role("found").locator("[data-role=excerpt]").waitFor();
    },
  },
  "a model is writing": {
    before() {
      const steps = stepwise(generated());
      site.api.respondWith(steps);
      steps.step();
    },
    async reach(widget) {
      await widget.ask(QUESTION, "pending");
      await widget.role("waiting").filter({ hasText: "…" }).waitFor();
      await announces(widget);
    },
  },
  "generated answer, with what was left out": {
    before: () => site.api.respondWith(whole(generated({ generation: report({ dropped: { number: 2, order: 1 } }) }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("left-out").locator("summary").click();
    },
  },
  "card of a generated answer": {
    before: () => site.api.respondWith(whole(generated())),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("marker").focus();
      await widget.role("source-sentence").waitFor();
    },
  },
  help: {
    async reach(widget) {
      await openHistory(widget);
      await widget.role("help-open").click();
      await widget.role("help").waitFor();
    },
  },
  "the form for an answer that did not help": {
    before() {
      site.api.config = { ...site.api.config, support_url: "https://example.com/help" };
      site.api.interfere = ({ path }, response) =>
        path.endsWith("/feedback") && response.writeHead(200, { "content-type": "application/json" }).end("{}");
    },
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("feedback-down").click();
      await widget.role("contact").waitFor();
    },
  },
  "the hint about badges": {
    // It vanishes after a while.
    pagePerLook: true,
    async reach(widget) {
      await widget.page.evaluate(() => localStorage.removeItem("evidence-chat:hint"));
      await widget.ask(QUESTION);
      await widget.role("badge-hint").waitFor();
    },
  },
  "privacy notice": {
    before: sendingTo("llm.of-a-service-with-a-long-name.example:8443"),
    async reach(widget) {
      await widget.role("input").focus();
      await widget.role("privacy").waitFor();
    },
  },
  stopped: {
    before() {
      const steps = stepwise(answer());
      site.api.respondWith(steps);
      steps.step(2);
    },
    async reach(widget) {
      await widget.ask(QUESTION, "streaming");
      await widget.role("stop").click();
      await widget.reply("stopped");
    },
  },
  "cut answer": {
    before: () => site.api.respondWith(cutAfter(bytesUntil("answer_delta"))),
    reach: (widget) => widget.ask(QUESTION, "failed"),
  },
  "server error": {
    before: () => site.api.respondWith(failure(503, "upstream_unavailable", { retryable: true })),
    reach: (widget) => widget.ask(QUESTION, "failed"),
  },
  "sign-in needed": { token: null, reach: (widget) => widget.ask(QUESTION, "failed") },
  "not saved": {
    before: () => site.api.respondWith(whole(answer({ persisted: false }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("not-saved").waitFor();
    },
  },
  "more sources, one opened": {
    before: () => site.api.respondWith(whole(LONG_ANSWER)),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("more-sources").click();
      assert.equal(await widget.all("source").count(), DOCUMENTS.length);
      await widget.role("source").locator("summary").click();
      await widget.element.locator("details[open]").waitFor();
    },
  },
  "too fast": {
    // Its button counts the seconds.
    pagePerLook: true,
    before: () =>
      site.api.respondWith(failure(429, "rate_limited", { retryable: true, headers: { "retry-after": "30" } })),
    reach: (widget) => widget.ask(QUESTION, "failed"),
  },
  "model failed": {
    before: () => (site.interfere = failing("/model/")),
    forget: true,
    async reach(widget) {
      await widget.role("input").focus();
      await widget.role("model-retry").waitFor();
    },
  },
  "panel failed": {
    before: () => (site.interfere = failing("/widget/panel-")),
    async reach(widget) {
      await widget.role("input").focus();
      await widget.role("load-failed").waitFor();
    },
  },
  initializing: {
    // Its progress advances.
    pagePerLook: true,
    before: () => (site.interfere = stalling("/model/")),
    forget: true,
    async reach(widget) {
      await widget.role("input").focus();
      await widget
        .role("status")
        .filter({ hasText: /[٣3][٣3]/ })
        .waitFor();
    },
  },
  "timed out": {
    before: () => (site.interfere = stalling("/model/")),
    forget: true,
    hasClock: true,
    async reach(widget) {
      await widget.role("input").focus();
      await widget
        .role("status")
        .filter({ hasText: /[٣3][٣3]/ })
        .waitFor();
      await widget.page.clock.fastForward(16_000);
      await widget.role("model-retry").waitFor();
    },
  },
  unsupported: {
    init: () => delete globalThis.WebAssembly,
    async reach(widget) {
      await widget.role("input").hover();
      await widget.becomes("error");
      await widget.role("status").waitFor();
    },
  },
  offline: {
    // Without a network, the texts of another language do not load.
    pagePerLook: true,
    async reach(widget, t) {
      await widget.role("input").focus();
      await widget.becomes("ready");
      t.after(() => widget.page.context().setOffline(false));
      await widget.page.context().setOffline(true);
      await widget.role("offline").waitFor();
    },
  },
  consent: {
    forget: true,
    init: () => Object.defineProperty(navigator, "connection", { value: { saveData: true } }),
    async reach(widget) {
      await widget.role("input").focus();
      await widget.role("consent-yes").waitFor();
    },
  },
  "too long": {
    async reach(widget) {
      await widget.role("input").focus();
      await widget.becomes("ready");
      await widget.role("input").fill("Several different words of a question. ".repeat(95));
      await widget.role("too-long").waitFor();
    },
  },
  history: {
    before: withHistory,
    async reach(widget) {
      await openHistory(widget);
      await widget.all("session").nth(1).waitFor();
      await widget.all("session-delete").first().click();
      // Stops the countdown, after which the strip vanishes.
      await widget.role("undo").focus();
    },
  },
  "history, empty": {
    async reach(widget) {
      await openHistory(widget);
      await widget.element.locator(".history-empty").waitFor();
    },
  },
  "history, loading": {
    before: () => (site.api.interfere = ({ path }) => path === "/api/sessions"),
    async reach(widget) {
      await openHistory(widget);
      await widget.element.locator(".history-loading").waitFor();
    },
  },
  "history, failed": {
    before: () => (site.api.interfere = failingSessions),
    async reach(widget) {
      await openHistory(widget);
      await widget.role("history-retry").waitFor();
    },
  },
  "history, renaming": {
    before: withHistory,
    async reach(widget) {
      await openHistory(widget);
      await widget.all("session-rename").nth(1).click();
      await widget.role("rename-form").waitFor();
    },
  },
  "history, asking whether to delete everything": {
    before: withHistory,
    async reach(widget) {
      await openHistory(widget);
      await widget.all("session").nth(1).waitFor();
      await widget.role("my-data-delete").click();
      await widget.role("my-data-confirm").waitFor();
    },
  },
  "history, the export failed": {
    before() {
      withHistory();
      site.api.interfere = ({ path }, response) => {
        if (path !== "/api/me/export") return false;
        json(503, { code: "upstream_unavailable", message: "No.", retryable: true })(response);
        return true;
      };
    },
    async reach(widget) {
      await openHistory(widget);
      await widget.role("my-data-export").click();
      await widget.role("my-data-failure").waitFor();
    },
  },
  "opened conversation": {
    before: withHistory,
    async reach(widget) {
      await openHistory(widget);
      await widget.all("session-open").first().click();
      await widget.reply("done");
    },
  },
  "source that is gone": {
    before: withHistory,
    async reach(widget) {
      await openHistory(widget);
      await widget.all("session-open").first().click();
      await widget.reply("done");
      await widget.role("marker").click();
      await widget.role("source-gone").waitFor();
    },
  },
  "floating panel": {
    // It is modal only in a small window.
    pagePerLook: true,
    attributes: { mode: "floating" },
    async reach(widget) {
      await widget.role("launcher").click();
      await widget.ask(QUESTION);
    },
  },
  launcher: { attributes: { mode: "floating" }, reach: (widget) => widget.role("launcher").waitFor() },
};

for (const { name, script, state } of [
  { name: "consent to the download of a writer", script: {}, state: "consent" },
  { name: "loading of a writer", script: { isCached: true, held: ["load"] }, state: "loading" },
  { name: "writing on the device", script: { isCached: true, held: ["write"] }, state: "writing" },
  { name: "answer written on the device", script: { isCached: true }, state: "written" },
  { name: "writer without memory", script: { isCached: true, faults: { load: "out_of_memory" } }, state: "failed" },
]) {
  STATES[name] = {
    attributes: { "writer-url": "/writer.js", "writer-model-url": "/models/small.gguf" },
    before: onDevice,
    async reach(widget) {
      const written = {
        answer: { deltas: ["You get your money back within 5 days. [1]"], citations: [supporting()] },
        generation: report({ dropped: { number: 1 } }),
      };
      await widget.page.evaluate((given) => (globalThis.script = given), { written, ...script });
      await widget.ask(QUESTION);
      await widget.role("write").click();
      await widget.element.locator(`[data-role=on-device][data-state=${state}]`).waitFor();
    },
  };
}

/** Lets answers be written on the device, by a scripted writer. */
function onDevice() {
  site.api.config = { ...site.api.config, answer_mode: "on_device" };
  site.interfere = (path, response) =>
    path === "/writer.js" && response.writeHead(200, { "content-type": "text/javascript" }).end(SCRIPTED_WRITER);
}

/** Lets a language model of that service write the answers. */
function sendingTo(service) {
  return () => (site.api.config = { ...site.api.config, answer_mode: "endpoint", sends_to: service });
}

/** Makes requests fail whose path has this prefix. */
function failing(start) {
  return (path, response) => path.startsWith(start) && response.writeHead(404).end();
}

/** Sends a third of the file, and then nothing. */
function stalling(start) {
  return async (path, response) => {
    if (!path.startsWith(start)) return false;
    response.writeHead(200, { "content-length": 23_325_735 }).write(model.subarray(0, 7_700_000));
    // The embedder reports progress at most every 50 ms, and may still be reading.
    for (let at = 7_700_000; at < 7_730_000; at += 1000) {
      await sleep(100);
      response.write(model.subarray(at, at + 1000));
    }
    return true;
  };
}

function failingSessions({ path }, response) {
  if (path !== "/api/sessions") return false;
  json(500, { code: "internal", message: "No.", retryable: false })(response);
  return true;
}

async function openHistory(widget) {
  await widget.role("input").focus();
  await widget.role("history-open").click();
}

function withHistory() {
  const at = "2026-11-01T10:00:00Z";
  site.api.sessions = ["Refunds?", "Delivery?", "Gift cards?"].map((title, index) => ({
    id: SESSION.replace(/.$/, String(index)),
    title,
    created_at: at,
    updated_at: at,
  }));
  const message = (id, role, content, citations = []) => ({ id, role, content, citations, created_at: at });
  for (const { id } of site.api.sessions) {
    site.api.messages.set(id, [
      message(SESSION.replace(/.$/, "a"), "user", QUESTION),
      message(SESSION.replace(/.$/, "b"), "assistant", "Refunds are paid within 5 days. [1]", [
        { ...citation(), available: false },
      ]),
    ]);
  }
}

/** Arabic first, because a state that is reached in Arabic in a small window tests more than one that changes to it. */
const LOOKS = [
  { name: "Arabic, 320 pixels", lang: "ar", theme: "light", width: 320 },
  { name: "light", lang: "en", theme: "light", width: 900 },
  { name: "dark", lang: "en", theme: "dark", width: 900 },
];

for (const [name, state] of Object.entries(STATES)) {
  test(`axe finds no violation: ${name}`, async (t) => {
    let widget, before;
    for (const look of LOOKS) {
      await t.test(`axe finds no violation: ${name}, ${look.name}`, async (own) => {
        assert.ok(before || look === LOOKS[0], "the look before failed");
        let shown;
        // Most of the time goes into reaching a state, so the next looks continue on the page of the first.
        if (before && !state.pagePerLook) {
          await changeTo(look, widget);
          shown = await contentOf(widget);
        }
        // On a slow machine, a state may pass before the next look.
        if (!shown || !isSameState(shown, before)) {
          widget = await reachIn(look, state, state.pagePerLook ? own : t);
          shown = await contentOf(widget);
        }
        assertLook(look, shown, before);
        assert.deepEqual(await faultsOf(widget), { violations: [], sideways: [] });
        assert.deepEqual((await contentOf(widget)).parts, shown.parts, "the state changed while axe ran");
        before = shown;
      });
    }
  });
}

/** Asserts that the widget has that look, and that a dark one differs from the light one before. */
function assertLook({ lang, theme, width }, shown, before) {
  assert.deepEqual([shown.lang, shown.scheme, shown.width], [lang, theme, width]);
  if (theme === "dark") assert.notEqual(shown.background, before.background);
}

/** Whether only the look changed: otherwise axe would check another state. */
function isSameState(shown, before) {
  const isSamePage = shown.lang !== before.lang || isDeepStrictEqual(shown.html, before.html);
  return isSamePage && isDeepStrictEqual(shown.parts, before.parts);
}

/** Opens a page in that look and reaches the state. */
async function reachIn({ lang, theme, width }, state, t) {
  site.reset();
  if (state.forget) await site.forgetModel(browser);
  state.before?.();
  const widget = await open(t, {
    attributes: { lang, theme, ...state.attributes },
    init: state.init,
    token: state.token,
    async setUp(page) {
      await page.setViewportSize({ width, height: 800 });
      if (state.hasClock) await page.clock.install();
    },
  });
  await state.reach(widget, t);
  // The model may still load, and its progress would be another state.
  const settled = widget.page.locator('evidence-chat:not([data-state="loading"])');
  if (!state.pagePerLook) await settled.waitFor({ state: "attached" });
  await widget.page.evaluate(AXE);
  await endAnimations(widget);
  return widget;
}

async function changeTo({ lang, theme, width }, { element, page }) {
  await page.setViewportSize({ width, height: 800 });
  await element.evaluate(
    (chat, attributes) => {
      for (const [name, value] of Object.entries(attributes)) chat.setAttribute(name, value);
    },
    { lang, theme },
  );
  await element.locator(`.root[lang=${lang}][data-scheme=${theme}]`).waitFor({ state: "attached" });
  await endAnimations({ page });
}

/** Ends all animations except those that never end. */
async function endAnimations({ page }) {
  await page.evaluate(() => {
    for (const animation of document.querySelector("evidence-chat").shadowRoot.getAnimations())
      if (animation.effect.getTiming().iterations !== Infinity) animation.finish();
  });
}

/** What axe finds in the widget, and by how many pixels something needs horizontal scrolling (WCAG 1.4.10). */
function faultsOf({ page }) {
  return page.evaluate(async (rules) => {
    const { violations } = await axe.run("evidence-chat", { runOnly: rules, resultTypes: ["violations"] });
    const log = document.querySelector("evidence-chat").shadowRoot.querySelector("[data-role=log]");
    const overflow = [document.documentElement, log].map((box) => box.scrollWidth - box.clientWidth);
    return {
      violations: violations.map(({ id, nodes }) => [
        id,
        ...nodes.map(({ target, failureSummary }) => `${String(target)}: ${failureSummary}`),
      ]),
      sideways: overflow.filter((pixels) => pixels > 0),
    };
  }, RULES);
}

/** The look of the widget, and what it shows: `parts` is the same in all looks, `html` in all looks of a language. */
function contentOf({ page }) {
  return page.evaluate(() => {
    const { shadowRoot } = document.querySelector("evidence-chat");
    /** @type {HTMLElement[]} */
    const [root, panel, launcher] = [".root", ".panel", ".launcher"].map((part) => shadowRoot.querySelector(part));
    /** @type {NodeListOf<HTMLInputElement>} */
    const elements = shadowRoot.querySelectorAll("*");
    const parts = [...elements].map((part) => {
      const { role = "", state = "" } = part.dataset;
      const value = part.matches("input, textarea") ? part.value : "";
      const isShown = role && part.checkVisibility({ opacityProperty: true, visibilityProperty: true });
      const isFocused = part === shadowRoot.activeElement;
      return [part.localName, role, state, value, isShown && "shown", isFocused && "focused"].filter(Boolean).join(" ");
    });
    return {
      lang: root.lang,
      scheme: getComputedStyle(root).colorScheme,
      width: innerWidth,
      background: getComputedStyle(panel.checkVisibility() ? panel : launcher).backgroundColor,
      parts,
      // In pieces, for readable differences.
      html: shadowRoot.innerHTML.replace(/data-scheme="\w+"/, "").split(/(?=<)/),
    };
  });
}

test("screen readers announce a complete answer once, with its sources, and no deltas", async (t) => {
  const widget = await open(t);
  const steps = stepwise(answer());
  site.api.respondWith(steps);
  await widget.role("input").focus();
  await widget.becomes("ready");
  await widget.element.evaluate(({ shadowRoot }) => {
    globalThis.announced = [];
    const isLive = (node) => node.closest?.("[role=status], [role=alert], [aria-live=polite]");
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        const region = isLive(target.nodeType === 1 ? target : target.parentElement);
        if (region && addedNodes.length > 0 && region.textContent.trim() !== "") announced.push(region.textContent);
      }
    }).observe(shadowRoot, { childList: true, characterData: true, subtree: true });
  });
  await widget.ask(QUESTION, "pending");
  for (let step = 0; step < 5; step++) {
    steps.step();
    await widget.page.waitForTimeout(30);
  }
  steps.step(10);
  await widget.reply("done");
  assert.deepEqual(await widget.page.evaluate(() => announced), ["Answer: Refunds are paid within 5 days. [Refunds]"]);
  const log = widget.role("log");
  assert.deepEqual([await log.getAttribute("role"), await log.getAttribute("aria-live")], ["log", "off"]);
});

test("screen readers announce refusals and errors", async (t) => {
  const widget = await open(t);
  site.api.respondWith(whole(refusal()), failure(503, "upstream_unavailable", { retryable: true }));
  await widget.ask(QUESTION, "refused");
  assert.match(await widget.role("announcer").innerText(), /enough information/);
  await widget.ask(QUESTION, "failed");
  assert.equal(await widget.role("error-message").getAttribute("role"), "alert");
});

test("the keyboard alone is enough to open, ask, read a source, return and close", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating" } });
  const { keyboard } = widget.page;
  const focused = () =>
    widget.element.evaluate(
      ({ shadowRoot }) => shadowRoot.activeElement?.dataset.role ?? shadowRoot.activeElement?.localName,
    );
  await keyboard.press("Tab");
  assert.equal(await focused(), "launcher");
  await keyboard.press("Enter");
  assert.equal(await focused(), "input");
  await keyboard.type(QUESTION);
  await keyboard.press("Enter");
  await widget.reply("done");
  assert.equal(await focused(), "input", "the next question can be typed at once");

  for (let presses = 0; (await focused()) !== "marker"; presses++) {
    assert.ok(presses < 12, "Tab does not return to the answer's badge");
    await keyboard.press("Shift+Tab");
  }
  await keyboard.press("Enter");
  assert.equal(await focused(), "summary", "the source has the focus");
  await keyboard.press("Escape");
  assert.equal(await widget.role("launcher").getAttribute("aria-expanded"), "false");
  assert.equal(await focused(), "launcher", "the focus returns to the launcher");
});

test("the focus is never lost when the focused button is removed", async (t) => {
  const widget = await open(t);
  const focused = () => widget.element.evaluate(({ shadowRoot }) => shadowRoot.activeElement?.dataset.role);
  site.api.respondWith(cutAfter(bytesUntil("answer_delta")), whole(answer()));
  await widget.ask(QUESTION, "failed");
  await widget.role("retry").focus();
  await widget.page.keyboard.press("Enter");
  await widget.reply("done");
  assert.equal(await focused(), "input", "after a retry");
  await widget.role("new").focus();
  await widget.page.keyboard.press("Enter");
  assert.equal(await focused(), "input", "after a new chat");
  await widget.role("history-open").focus();
  await widget.page.keyboard.press("Enter");
  await widget.role("history").waitFor();
  await widget.role("history-back").focus();
  await widget.page.keyboard.press("Enter");
  assert.equal(await focused(), "history-open", "back from the history");
});

test("all targets are at least 24 by 24 pixels", async (t) => {
  site.api.respondWith(whole(LONG_ANSWER));
  const widget = await open(t, { setUp: (page) => page.setViewportSize({ width: 320, height: 800 }) });
  await widget.ask(QUESTION);
  const small = await widget.element.evaluate(({ shadowRoot }) =>
    [...shadowRoot.querySelectorAll("button, a[href], summary, input, textarea")]
      .filter((target) => target.checkVisibility() && !target.closest("p"))
      .map((target) => [target.dataset.role ?? target.localName, target.getBoundingClientRect()])
      .filter(([, { width, height }]) => width < 24 || height < 24)
      .map(([role, { width, height }]) => `${role} ${width} × ${height}`),
  );
  assert.deepEqual(small, []);
});

test("question box and close button stay visible at 200 % zoom and with an on-screen keyboard", async (t) => {
  for (const size of [
    { width: 640, height: 450 },
    { width: 390, height: 330 },
  ]) {
    const widget = await open(t, {
      attributes: { mode: "floating" },
      setUp: (page) => page.setViewportSize(size),
    });
    await widget.role("launcher").click();
    await widget.ask(QUESTION);
    // Without a question, the button is disabled.
    await widget.role("input").fill(QUESTION);
    for (const role of ["input", "send", "close"]) {
      const box = await widget.role(role).boundingBox();
      assert.ok(box.y >= 0 && box.y + box.height <= size.height, `${role} at ${JSON.stringify({ ...box, size })}`);
      await widget.role(role).click({ trial: true, timeout: 2000 });
    }
    const log = await widget.role("log").boundingBox();
    assert.ok(log.height >= 60, `the conversation is ${log.height} pixels high`);
  }
});

test("a floating panel that covers the window is modal, contains the live region and traps the focus", async (t) => {
  const widget = await open(t, {
    attributes: { mode: "floating" },
    setUp: (page) => page.setViewportSize({ width: 390, height: 700 }),
  });
  await widget.role("launcher").click();
  await widget.ask(QUESTION);
  const panel = widget.element.locator("[part=panel]");
  assert.equal(await panel.getAttribute("aria-modal"), "true");
  assert.equal(await panel.locator("[data-role=announcer]").count(), 1);
  const isInside = () => widget.element.evaluate(({ shadowRoot }) => shadowRoot.activeElement !== null);
  for (const key of ["Shift+Tab", "Tab"]) {
    for (let presses = 0; presses < 25; presses++) {
      await widget.page.keyboard.press(key);
      assert.ok(await isInside(), `${key} leaves the panel after ${presses + 1} presses`);
    }
  }
  await widget.element.evaluate((element) => (element.mode = "inline"));
  assert.equal(await panel.getAttribute("aria-modal"), null);
  assert.equal(await panel.locator("[data-role=announcer]").count(), 0);
  assert.equal(await widget.all("announcer").count(), 1);
});

test("an on-screen keyboard covers nothing of a floating panel, and pinch-zoom does not shrink it", async (t) => {
  const widget = await open(t, {
    attributes: { mode: "floating" },
    setUp: (page) => page.setViewportSize({ width: 390, height: 700 }),
    init: () => {
      const area = Object.assign(new EventTarget(), { height: 700, offsetTop: 0, scale: 1 });
      Object.defineProperty(globalThis, "visualViewport", { value: area });
    },
  });
  const see = (area) =>
    widget.page.evaluate((area) => {
      Object.assign(visualViewport, area);
      visualViewport.dispatchEvent(new Event("resize"));
    }, area);
  const panel = async () => {
    const { y, height } = await widget.element.locator("[part=panel]").boundingBox();
    return [y, height];
  };
  await widget.role("launcher").click();
  await widget.role("history-open").waitFor();
  await widget.until(async () => (await panel())[1] === 700, "the whole window");
  await see({ height: 330, offsetTop: 40 });
  assert.deepEqual(await panel(), [40, 330]);
  const input = await widget.role("input").boundingBox();
  assert.ok(input.y + input.height <= 370, "the question box is above the keyboard");
  await see({ height: 350, offsetTop: 100, scale: 2 });
  assert.deepEqual(await panel(), [0, 700]);
});

test("prefers-reduced-motion stops all animations", async (t) => {
  const widget = await open(t, { setUp: (page) => page.emulateMedia({ reducedMotion: "reduce" }) });
  site.api.respondWith(silence);
  await widget.ask(QUESTION, "pending");
  const moving = () =>
    widget.element.evaluate(
      ({ shadowRoot }) => shadowRoot.getAnimations().filter(({ playState }) => playState === "running").length,
    );
  await widget.until(async () => (await moving()) === 0, "animations end at once");
});

test("targets and marks keep a visible edge in forced colours", async (t) => {
  const inForcedColors = (attributes) =>
    open(t, { attributes, setUp: (page) => page.emulateMedia({ forcedColors: "active" }) });
  withHistory();
  site.api.config = { ...site.api.config, suggested_questions: ["When?"] };
  site.api.respondWith(failure(503, "upstream_unavailable", { retryable: true }), whole(refusal()), whole(answer()));
  const floating = await inForcedColors({ mode: "floating" });
  await assertEdge(floating.role("launcher"));

  const widget = await inForcedColors();
  await widget.role("input").focus();
  await assertEdge(widget.role("suggested"));
  await widget.ask(QUESTION, "failed");
  await assertEdge(widget.role("retry"));
  await widget.ask(QUESTION, "refused");
  for (const suggestion of await widget.element.locator(".suggestions .button").all()) await assertEdge(suggestion);
  await widget.ask(QUESTION);
  for (const role of ["marker", "source-number", "user", "send"]) await assertEdge(widget.role(role));

  await openHistory(widget);
  await widget.all("session-open").first().click();
  await widget.reply("done");
  await openHistory(widget);
  await assertEdge(widget.element.locator("[data-role=session]:has([aria-current])"));
  for (const role of ["session-rename", "session-delete"]) await assertEdge(widget.role(role));
  await widget.page.keyboard.press("Tab");
  await assertEdge(widget.role("help-open").and(widget.page.locator(":focus-visible")));
  await widget.page.keyboard.press("Tab");
  await assertEdge(widget.element.locator(".history-item:has(:focus-visible)"));
});

/** Asserts that the element has a visible border or outline. */
async function assertEdge(locator) {
  const [name, ...edges] = await locator.evaluate((target) => {
    const style = getComputedStyle(target);
    const edges = ["border-block-start", "outline"].map((edge) => [
      style.getPropertyValue(`${edge}-style`),
      style.getPropertyValue(`${edge}-width`),
      style.getPropertyValue(`${edge}-color`) !== getComputedStyle(target.closest(".panel, .root")).backgroundColor,
    ]);
    return [target.dataset.role ?? target.className, ...edges];
  });
  const isSeen = ([style, width, isColored]) => style !== "none" && width !== "0px" && isColored;
  assert.ok(edges.some(isSeen), `${name}: ${JSON.stringify(edges)}`);
}

test("the language follows the page or the element's lang, changes at any time, and texts can be replaced", async (t) => {
  const widget = await open(t);
  const { element, page } = widget;
  const label = () => widget.role("send").getAttribute("aria-label");
  assert.equal(await label(), "Send");
  await page.evaluate(() => (document.documentElement.lang = "de-AT"));
  await element.evaluate((chat) => {
    const parent = chat.parentNode;
    chat.remove();
    parent.prepend(chat);
  });
  assert.equal(await label(), "Senden");
  await widget.ask(QUESTION);
  assert.match(await widget.role("sources").innerText(), /Quelle/);
  const pressed = widget.role("copy");
  const devtools = await page.context().newCDPSession(page);
  for (const [lang, send, copy, direction] of [
    ["es", "Enviar", "Copiar", "ltr"],
    ["fr", "Envoyer", "Copier", "ltr"],
    ["ar", "إرسال", "نسخ", "rtl"],
    ["ja", "送信", "コピー", "ltr"],
    ["tlh", "Send", "Copy", "ltr"],
  ]) {
    // Visible nodes must be updated even after a garbage collection.
    await devtools.send("HeapProfiler.collectGarbage");
    await element.evaluate((chat, lang) => (chat.lang = lang), lang);
    await widget.until(async () => (await pressed.innerText()).trim() === copy, `${lang}: ${copy}`);
    assert.equal(await label(), send);
    assert.equal(
      await element.evaluate(({ shadowRoot }) => getComputedStyle(shadowRoot.firstElementChild).direction),
      direction,
    );
  }
  await element.evaluate((chat) => (chat.texts = { copy: "Take it", send: "Go" }));
  assert.equal(await label(), "Go");
  await widget.until(async () => (await pressed.innerText()).trim() === "Take it", "the page's own text");
});

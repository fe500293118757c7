// Accessibility: axe in every state and look.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  answer,
  cutAfter,
  bytesUntil,
  failure,
  found,
  generated,
  json,
  LAID_OUT_ANSWER,
  laidOut,
  refusal,
  report,
  result,
  silence,
  stepwise,
  supporting,
  whole,
} from "./support/answers.mjs";
import { readModel } from "./pages/widget/site.mjs";
import { fillHistory, openHistory } from "./pages/widget/history.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { DOCUMENTS, LONG_ANSWER } from "./support/long-answer.mjs";

const SCRIPTED_WRITER = await readFile(new URL("support/scripted-writer.mjs", import.meta.url));
const AXE = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

const { site, browser, open } = await startWidgetSuite();
const model = await readModel();

/** Also-found passages: one with a link, one with a download, one with neither. */
const FOUND = [
  found({ url: "https://shop.example/deliveries", excerpt: "We deliver abroad." }),
  found({ title: "Customs", download_url: "https://chat.example/api/documents/2/download", excerpt: "Customs apply." }),
  found({ title: "Parcels", page: 3, excerpt: "Parcels are small." }),
];
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
  "card of a statement with its chain": {
    before: () => site.api.respondWith(whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()] }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("marker").focus();
      await widget.role("card-statement").waitFor();
    },
  },
  "passage that says how it is laid out": {
    before: () => site.api.respondWith(whole(answer({ deltas: [LAID_OUT_ANSWER], citations: [laidOut()] }))),
    async reach(widget) {
      await widget.ask(QUESTION);
      await widget.role("marker").click();
      await widget.element.locator("details[open] table").waitFor();
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
      await widget.role("history-failure").waitFor();
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
    response.writeHead(200, { "content-length": 23_341_453 }).write(model.subarray(0, 7_700_000));
    // The embedder reports progress at most every 200 ms, and may still be reading.
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

function withHistory() {
  fillHistory(site.api);
}

/**
 * Each direction, theme and width once. Arabic first, because a state that is reached in Arabic in a small window
 * tests more than one that changes to it.
 */
const LOOKS = [
  { name: "Arabic, light, 320 pixels", lang: "ar", theme: "light", width: 320 },
  { name: "English, dark", lang: "en", theme: "dark", width: 900 },
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
      // It would come to the first answer of all, at any moment while axe runs; it has a state of its own.
      await page.addInitScript(() => {
        if (origin !== "null") localStorage.setItem("evidence-chat:hint", "1");
      });
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
    // A closed widget may have no panel yet.
    const overflow = [document.documentElement, log ?? document.body].map((box) => box.scrollWidth - box.clientWidth);
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
      background: getComputedStyle(panel?.checkVisibility() ? panel : launcher).backgroundColor,
      parts,
      // In pieces, for readable differences.
      html: shadowRoot.innerHTML.replace(/data-scheme="\w+"/, "").split(/(?=<)/),
    };
  });
}

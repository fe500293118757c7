// Accessibility: keyboard, screen reader announcements, small and zoomed windows; axe.test.mjs checks the states.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, bytesUntil, cutAfter, failure, refusal, silence, stepwise, whole } from "./support/answers.mjs";
import { fillHistory, openHistory } from "./pages/widget/history.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { LONG_ANSWER } from "./support/long-answer.mjs";

const { site, open } = await startWidgetSuite();

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
  await widget.role("badge-hint").waitFor();
  assert.deepEqual(await widget.page.evaluate(() => announced), [
    "Answer: Refunds are paid within 5 days. [Refunds]",
    "The number after a sentence is its source: open it to see the words in their passage.",
  ]);
  const log = widget.role("log");
  assert.deepEqual([await log.getAttribute("role"), await log.getAttribute("aria-live")], ["log", "off"]);
});

test("a badge and its source show the number that the label of the badge says, in the digits of the language", async (t) => {
  const widget = await open(t, { attributes: { lang: "ar-EG" } });
  await widget.ask(QUESTION);
  const badge = widget.all("marker").first();
  assert.match(await badge.getAttribute("aria-label"), /١/);
  assert.equal(await badge.innerText(), "١");
  assert.equal(await widget.role("source-number").innerText(), "١");
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
  fillHistory(site.api);
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

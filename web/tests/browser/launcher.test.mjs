// The widget on a page before, while and after it loads. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isModelCached } from "../../../tests/lib/model-cache.mjs";
import { answer, gate, stepwise, whole } from "./support/answers.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";
import { markup } from "./pages/widget/page.mjs";

const { site, browser, open } = await startWidgetSuite();
const isPanelCode = (path) => /^\/widget\/.*\.js$/.test(path) && path !== "/widget/evidence-chat.js";
const panelRequests = () => site.requests.filter(isPanelCode);

/** Delays the panel's code until the returned function is called. */
function holdPanel() {
  const { opened, open } = gate();
  site.interfere = async (path) => {
    if (isPanelCode(path)) await opened;
    return false;
  };
  return open;
}

for (const mode of ["inline", "floating"]) {
  test(`a ${mode} widget requests one script until the visitor uses it`, async (t) => {
    const widget = await open(t, { attributes: { mode } });
    await widget.role(mode === "inline" ? "input" : "launcher").waitFor();
    await widget.page.waitForTimeout(500);
    assert.deepEqual(site.requests.toSorted(), ["/", "/page.css", "/page.js", "/widget/evidence-chat.js"]);
    assert.deepEqual(site.api.requests, []);
  });

  for (const intent of ["hover", "focus", "touch"]) {
    test(`a ${mode} widget loads the panel on ${intent}`, async (t) => {
      const widget = await open(t, { attributes: { mode } });
      const target = widget.role(mode === "inline" ? "input" : "launcher");
      if (intent === "hover") await target.hover();
      if (intent === "focus") await target.focus();
      if (intent === "touch") {
        await target.dispatchEvent("pointerdown", { pointerType: "touch", bubbles: true, composed: true });
      }
      await widget.all("history-open").waitFor({ state: "attached" });
      assert.ok(panelRequests().length > 0);
      if (intent === "hover") assert.deepEqual(site.modelRequests(), [], "a passing pointer is no reason for 15 MB");
    });
  }
}

test("a floating widget is only its launcher until a pointer comes, and its panel is drawn closed", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating", heading: "Before" } });
  const { page } = widget;
  const panel = page.locator("evidence-chat [part=panel]");
  const seen = () =>
    panel.evaluate((panel) => panel.offsetHeight > 0 && getComputedStyle(panel).visibility === "visible");
  await widget.role("launcher").waitFor();
  await page.evaluate(() => {
    const chat = document.querySelector("evidence-chat");
    chat.setAttribute("heading", "Ask us");
    chat.clear();
    chat.close();
  });
  assert.equal(await panel.count(), 0);
  // Where the pointer is already, it does not come.
  await page.mouse.move(0, 0);
  await widget.role("launcher").hover();
  await widget.all("history-open").waitFor({ state: "attached" });
  assert.deepEqual([await panel.count(), await seen()], [1, false]);
  await widget.role("launcher").click();
  await widget.role("input").waitFor();
  assert.equal(await seen(), true);
  assert.equal(await page.locator("evidence-chat h2").innerText(), "Ask us");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
  assert.equal(await seen(), false);
});

test("a widget that becomes inline while its closed panel is laid out is seen as a whole", async (t) => {
  const widget = await open(t, {
    attributes: { mode: "floating" },
    init: () => {
      const { setTimeout } = globalThis;
      const change = () => {
        const chat = document.querySelector("evidence-chat");
        /** @type {HTMLElement | null | undefined} */
        const panel = chat?.shadowRoot.querySelector("[part=panel]");
        if (chat?.mode === "floating" && panel?.style.visibility === "hidden") chat.mode = "inline";
      };
      Object.assign(globalThis, { setTimeout: (task, ...rest) => setTimeout(() => (task(), change()), ...rest) });
    },
  });
  await widget.role("launcher").hover();
  await widget.all("history-open").waitFor();
  assert.equal(await widget.element.getAttribute("mode"), "inline");
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
});

test("text typed before the panel loads stays with focus and cursor, and is asked on Enter", async (t) => {
  const release = holdPanel();
  const widget = await open(t);
  const input = widget.role("input");
  await input.click();
  await input.pressSequentially("How do I get money back?");
  for (let step = 0; step < "money back?".length; step++) await input.press("ArrowLeft");
  release();
  await widget.role("history-open").waitFor();
  await input.pressSequentially("my ");
  assert.equal(await input.inputValue(), QUESTION);
  await input.press("Enter");
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.equal(JSON.parse(site.api.questions()[0].body).message, QUESTION);
});

test("a question sent before the panel loads is asked once, and the next one can be typed meanwhile", async (t) => {
  const release = holdPanel();
  const widget = await open(t);
  const input = widget.role("input");
  await input.fill(QUESTION);
  await input.press("Enter");
  await input.press("Enter");
  await input.pressSequentially("And then?");
  assert.deepEqual(site.api.questions(), []);
  release();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.deepEqual(
    (await widget.all("user").allInnerTexts()).map((text) => text.trim()),
    [QUESTION],
  );
  assert.equal(site.api.questions().length, 1);
  assert.equal(await input.inputValue(), "And then?");
  assert.ok(await input.evaluate((input) => input.getRootNode().activeElement === input), "the input keeps the focus");
});

/** Runs in the page: whenever the widget yields to the page, it waits for `goOn`, which says whether it did. `letGo` ends that. */
function startInSteps() {
  const yields = [];
  let isHeld = true;
  const value = { yield: async () => isHeld && new Promise((resolve) => yields.push(resolve)) };
  Object.defineProperty(globalThis, "scheduler", { value });
  globalThis.goOn = () => yields.splice(0).map((resolve) => resolve()).length > 0;
  globalThis.letGo = () => {
    isHeld = false;
    globalThis.goOn();
  };
}

/** Lets the panel start step by step, with `between` before each, until it asks a question or has nothing more to do. */
async function startPanel(widget, between) {
  const { page } = widget;
  // Between two steps, a frame is drawn.
  const hasGoneOn = () =>
    page.evaluate(async () => {
      for (let tries = 0; tries < 20; tries++) {
        if (globalThis.goOn()) return true;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return false;
    });
  await widget.until(hasGoneOn, "the panel's code is loaded");
  let steps = 0;
  do {
    await between();
    steps++;
  } while ((await hasGoneOn()) && (await widget.all("user").count()) === 0);
  assert.ok(steps >= 3, `its start has ${steps} steps`);
  await page.evaluate(() => globalThis.letGo());
}

test("in no step of its start does the panel let a second question be sent before the first is asked", async (t) => {
  const widget = await open(t, { init: startInSteps });
  const input = widget.role("input");
  await input.fill(QUESTION);
  await input.press("Enter");
  await startPanel(widget, async () => {
    await input.fill("Another one?");
    await input.press("Enter");
    assert.equal(await input.inputValue(), "Another one?", "it is kept");
  });
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.equal(site.api.questions().length, 1);
  assert.equal(JSON.parse(site.api.questions()[0].body).message, QUESTION);
});

test("a visitor whose data is cleared while the panel starts has asked nothing, and the next one can", async (t) => {
  const widget = await open(t, { init: startInSteps });
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await startPanel(widget, () => widget.element.evaluate((element) => element.clear()));
  assert.match(await (await widget.ask("Another one?")).innerText(), ANSWER);
  assert.deepEqual(
    site.api.questions().map(({ body }) => JSON.parse(body).message),
    ["Another one?"],
  );
});

/** Runs in the page: collects all layout shifts, also those after user input. */
function watchShifts() {
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    const entries = /** @type {(PerformanceEntry & { value: number, sources: { node?: Node }[] })[]} */ (
      list.getEntries()
    );
    for (const { value, sources } of entries) {
      // Nodes inside a shadow tree are not reported.
      shifts.push({ value, nodes: sources.flatMap(({ node }) => node?.nodeName ?? []) });
    }
  }).observe({ type: "layout-shift", buffered: true });
}

test("the layout does not shift while the widget loads, gets its model and answers", async (t) => {
  await site.forgetModel(browser);
  site.api.config = { ...site.api.config, greeting: "Hello!", suggested_questions: ["How do I return an order?"] };
  const widget = await open(t, { init: watchShifts });
  await widget.role("input").hover();
  await widget.all("suggested").first().waitFor();
  await widget.role("input").click();
  await widget.call("ask", QUESTION);
  await widget.reply("done");
  await widget.page.waitForTimeout(300);
  const shifts = await widget.page.evaluate(() => globalThis.shifts);
  assert.deepEqual(
    shifts.flatMap(({ nodes }) => nodes),
    [],
  );
  // Inside the widget a box may grow into free space, for instance a number with one more digit.
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  assert.ok(sum < 0.001, `${sum}`);
});

test("the layout observer of these tests detects a shift", async (t) => {
  const widget = await open(t, { init: watchShifts });
  await widget.role("input").waitFor();
  await widget.page.waitForTimeout(200);
  await widget.page.evaluate(() => document.body.prepend("Out of my way!", document.createElement("hr")));
  await widget.until(() => widget.page.evaluate(() => shifts.some(({ nodes }) => nodes.length > 0)), "a shift");
});

test("a data-saving connection shows the download size and downloads nothing before consent", async (t) => {
  await site.forgetModel(browser);
  const init = () => Object.defineProperty(navigator, "connection", { value: { saveData: true } });
  const widget = await open(t, { init });
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.role("consent").waitFor();
  assert.match(await widget.role("consent-yes").innerText(), /\b15\b.*MB/);
  await widget.page.waitForTimeout(300);
  assert.deepEqual(site.modelRequests(), []);
  assert.deepEqual(
    site.requests.filter((path) => path.endsWith(".wasm")),
    [],
  );
  assert.equal(await widget.all("status").count(), 0);

  await widget.role("consent-yes").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.equal(site.modelRequests().length, 1);
  assert.equal(await widget.all("consent").count(), 0);
});

test("a cached model needs no consent and no download on the second visit", async (t) => {
  const first = await open(t);
  await first.ask(QUESTION);
  await first.until(() => isModelCached(first.page), "the model in the cache");
  await first.page.close();

  const init = () => Object.defineProperty(navigator, "connection", { value: { saveData: true } });
  const second = await open(t, { init });
  assert.match(await (await second.ask(QUESTION)).innerText(), ANSWER);
  assert.deepEqual(site.modelRequests(), []);
  assert.equal(await second.all("consent").count(), 0);
});

test("preload loads panel and model without interaction", async (t) => {
  const widget = await open(t, { attributes: { preload: true } });
  await widget.becomes("ready");
  const [{ detail }] = await widget.events("ready");
  assert.match(detail.fingerprint, /^[0-9a-f]{16}$/);
});

/** Where a part is in the window, without its animations. */
const layoutOf = (widget, part) =>
  widget.page.locator(`evidence-chat >> [part="${part}"]`).evaluate((node) => ({
    left: node.offsetLeft,
    right: innerWidth - node.offsetLeft - node.offsetWidth,
    top: node.offsetTop,
    bottom: innerHeight - node.offsetTop - node.offsetHeight,
  }));

for (const { lang, side } of [
  { lang: "en", side: "left" },
  { lang: "ar", side: "right" },
]) {
  test(`position="start" puts button and panel to the ${side} in ${lang}`, async (t) => {
    const widget = await open(t, { attributes: { mode: "floating", position: "start", lang } });
    await widget.role("launcher").click();
    await widget.role("history-open").waitFor();
    for (const part of ["launcher", "panel"]) assert.equal((await layoutOf(widget, part))[side], 20, part);
  });
}

test('position="start" leaves a floating panel the whole window of a phone', async (t) => {
  const widget = await open(t, { attributes: { mode: "floating", position: "start" } });
  await widget.page.setViewportSize({ width: 360, height: 640 });
  await widget.role("launcher").click();
  assert.deepEqual(await layoutOf(widget, "panel"), { left: 0, right: 0, top: 0, bottom: 0 });
});

test("a floating panel opens with the focus in the question box, and Escape closes it and returns the focus", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating" } });
  const [launcher, input] = [widget.role("launcher"), widget.role("input")];
  assert.equal(await input.isVisible(), false);
  await launcher.click();
  assert.equal(await launcher.getAttribute("aria-expanded"), "true");
  await widget.page.keyboard.type("Draft");
  assert.equal(await input.inputValue(), "Draft");
  await widget.page.keyboard.press("Escape");
  assert.equal(await input.isVisible(), false);
  assert.ok(await launcher.evaluate((launcher) => launcher.getRootNode().activeElement === launcher));
  await widget.page.keyboard.press("Enter");
  assert.equal(await input.inputValue(), "Draft");
  await widget.role("close").click();
  assert.equal(await input.isVisible(), false);
  await widget.call("open");
  assert.equal(await input.isVisible(), true);
  await widget.call("close");
  assert.equal(await input.isVisible(), false);
});

test("a shortcut opens and closes a floating panel, and focuses the question box of another", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating", shortcut: "mod+k" } });
  const [{ keyboard }, input] = [widget.page, widget.role("input")];
  const isFocused = () => input.evaluate((input) => input.getRootNode().activeElement === input);
  for (const keys of ["Control+k", "Meta+k", "Control+K"]) {
    await keyboard.press(keys);
    assert.ok((await input.isVisible()) && (await isFocused()), keys);
    await keyboard.press("Control+k");
    assert.equal(await input.isVisible(), false, keys);
  }
  for (const keys of ["k", "Alt+k", "Control+Shift+k", "Control+j"]) {
    await keyboard.press(keys);
    assert.equal(await input.isVisible(), false, keys);
  }
  const press = (key, code) =>
    widget.element.evaluate(
      (element, init) => element.dispatchEvent(new KeyboardEvent("keydown", { ctrlKey: true, bubbles: true, ...init })),
      { key, code },
    );
  await press("ن", "KeyK");
  assert.ok(await input.isVisible(), "on an Arabic keyboard");
  await press("t", "KeyK");
  assert.ok(await input.isVisible(), "the letter counts on other Latin keyboards");
  await widget.element.evaluate((element) => element.setAttribute("shortcut", "Mod+K"));
  await keyboard.press("Control+k");
  assert.equal(await input.isVisible(), false, "in capitals");
  await widget.page.evaluate(() => document.querySelector("evidence-chat").setAttribute("mode", "inline"));
  await keyboard.press("Control+k");
  assert.ok(await isFocused());
  await keyboard.press("Control+k");
  assert.ok(await isFocused(), "an inline panel does not close");
  await widget.page.evaluate(() => document.querySelector("evidence-chat").remove());
  assert.equal(
    await widget.page.evaluate(() =>
      document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }),
      ),
    ),
    true,
    "a removed element listens no more",
  );
});

test("without an attribute, ⌘K, Ctrl+K and the slash open the widget, but not in a field, nor if the page handles the key", async (t) => {
  const body =
    markup(site, { mode: "floating" }) +
    '<input id="field"><textarea id="area"></textarea><select id="select"><option>a</select><p id="editor" contenteditable>a</p>';
  const widget = await open(t, { body });
  const { keyboard } = widget.page;
  const input = widget.role("input");
  const isFocused = () => input.evaluate((input) => input.getRootNode().activeElement === input);
  for (const keys of ["Control+k", "Meta+k", "/", "Shift+/"]) {
    await keyboard.press(keys === "Shift+/" ? "a" : keys);
    if (keys === "Shift+/")
      await widget.page.evaluate(() =>
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "/", shiftKey: true, bubbles: true })),
      );
    assert.ok((await input.isVisible()) && (await isFocused()), keys);
    assert.equal(await input.inputValue(), "", "the slash is not typed");
    await widget.role("close").click();
  }
  for (const id of ["field", "area", "select", "editor"]) {
    await widget.page.locator(`#${id}`).focus();
    for (const keys of ["/", "Control+k"]) {
      await keyboard.press(keys);
      assert.equal(await input.isVisible(), false, `${keys} in ${id}`);
    }
  }
  await widget.page.evaluate(() => {
    /** @type {HTMLElement} */ (document.activeElement).blur();
    document.addEventListener("keydown", (event) => event.preventDefault());
  });
  for (const keys of ["/", "Control+k"]) {
    await keyboard.press(keys);
    assert.equal(await input.isVisible(), false, `${keys} is the page's`);
  }
});

test("in the question box a slash is typed, and a slash elsewhere never closes the panel", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating" } });
  const input = widget.role("input");
  await widget.page.keyboard.press("/");
  await widget.page.keyboard.type("and/or");
  assert.equal(await input.inputValue(), "and/or");
  await widget.role("log").focus();
  await widget.page.keyboard.press("/");
  assert.ok(await input.isVisible());
  assert.ok(await input.evaluate((input) => input.getRootNode().activeElement === input));
});

test("shortcut=off turns the shortcuts off, and others replace them", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating", shortcut: "off" } });
  const isOpenAfter = async (keys) => {
    await widget.page.keyboard.press(keys);
    return widget.role("input").isVisible();
  };
  for (const keys of ["Control+k", "/", "o"]) assert.equal(await isOpenAfter(keys), false, keys);
  await widget.element.evaluate((element) => element.setAttribute("shortcut", "mod+j ?"));
  for (const keys of ["Control+k", "/"]) assert.equal(await isOpenAfter(keys), false, keys);
  assert.equal(await isOpenAfter("Control+j"), true);
});

test("two widgets on a page have separate conversations", async (t) => {
  const body = markup(site, { id: "one" }) + markup(site, { id: "two" });
  const { page } = await open(t, { body });
  const part = (id, role) => page.locator(`#${id} [data-role="${role}"]`);
  for (const id of ["one", "two"]) {
    await part(id, "input").fill(`Question of ${id}?`);
    await part(id, "input").press("Enter");
  }
  for (const id of ["one", "two"]) {
    await page.locator(`#${id} [data-role="assistant"][data-state="done"]`).waitFor();
    assert.deepEqual(
      (await part(id, "user").allInnerTexts()).map((text) => text.trim()),
      [`Question of ${id}?`],
    );
  }
  assert.equal(new Set(site.api.questions().map(({ body }) => JSON.parse(body).message_id)).size, 2);
});

test("an element created before its definition works with the properties set on it", async (t) => {
  const { endpoint } = site.api;
  const widget = await open(t, {
    body: "<main></main>",
    init: () => {
      // Module scripts run after this.
      document.addEventListener("readystatechange", () => {
        if (document.readyState !== "interactive") return;
        const early = document.createElement("evidence-chat");
        globalThis.wasDefined = customElements.get("evidence-chat") !== undefined;
        early.tokenProvider = async () => "a-token";
        early.setAttribute("model-url", "/model/");
        document.querySelector("main").append(early);
      });
    },
  });
  assert.equal(await widget.page.evaluate(() => globalThis.wasDefined), false);
  await widget.element.evaluate((element, url) => {
    element.endpoint = url;
  }, endpoint);
  assert.match(await (await widget.ask(QUESTION)).innerText(), ANSWER);
  assert.equal(site.api.questions()[0].headers.authorization, "Bearer a-token");
});

test("a moved element continues answering; a removed one stops and works again when it is back", async (t) => {
  const widget = await open(t);
  const moved = stepwise(answer());
  const removed = stepwise(answer());
  site.api.respondWith(moved, removed, whole(answer()));
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  moved.step(2);
  await widget.reply("streaming");
  await widget.element.evaluate((element) => document.body.prepend(element));
  moved.step(10);
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);

  await widget.role("input").fill("Another one?");
  await widget.role("input").press("Enter");
  removed.step(2);
  await widget.reply("streaming");
  await widget.element.evaluate((element) => {
    globalThis.kept = element;
    element.remove();
  });
  await widget.until(() => site.api.questions()[1].isCut, "the connection was closed");
  await widget.page.evaluate(() => document.body.append(globalThis.kept));
  assert.match(await (await widget.ask("A third one?")).innerText(), ANSWER);
  assert.equal(await widget.all("assistant").count(), 3);
});

test("a question sent before the panel loads is asked by a moved element, and kept in the box of a removed one", async (t) => {
  await site.forgetModel(browser);
  const releaseRemoved = holdPanel();
  const removed = await open(t);
  const send = async (widget) => {
    await widget.role("input").fill(QUESTION);
    await widget.role("input").press("Enter");
  };
  await send(removed);
  await removed.element.evaluate((element) => {
    globalThis.kept = element;
    element.remove();
  });
  releaseRemoved();
  const isLoaded = () => globalThis.kept.shadowRoot.querySelector("[data-role=history-open]") !== null;
  await removed.until(() => removed.page.evaluate(isLoaded), "the panel's code");
  await removed.page.waitForTimeout(500);
  assert.deepEqual([site.api.questions(), site.modelRequests()], [[], []]);
  await removed.page.evaluate(() => document.body.append(globalThis.kept));
  assert.equal(await removed.role("input").inputValue(), QUESTION);
  await removed.role("input").press("Enter");
  assert.match(await (await removed.reply("done")).innerText(), ANSWER);
  assert.equal(site.api.questions().length, 1);

  const releaseMoved = holdPanel();
  const moved = await open(t);
  await send(moved);
  await moved.element.evaluate((element) => document.body.prepend(element));
  releaseMoved();
  assert.match(await (await moved.reply("done")).innerText(), ANSWER);
});

test("a question sent before the panel loads is back in the box when the page takes its token provider away", async (t) => {
  const release = holdPanel();
  const widget = await open(t);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.element.evaluate((element) => (element.tokenProvider = undefined));
  release();
  await widget.until(async () => (await widget.role("input").inputValue()) === QUESTION, "the question in the box");
  assert.equal(await widget.all("user").count(), 0);
  await widget.element.evaluate((element) => (element.tokenProvider = globalThis.tokenProvider));
  await widget.role("input").press("Enter");
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  assert.equal(site.api.questions().length, 1);
});

/** Makes the panel's code fail to load until the returned function is called. */
function breakPanel() {
  let isDown = true;
  site.interfere = (path, response) => {
    if (!isDown || !isPanelCode(path)) return false;
    response.writeHead(503).end();
    return true;
  };
  return () => (isDown = false);
}

for (const trigger of ["Enter", "the retry button"]) {
  test(`a panel that cannot be loaded shows the failure, keeps the question, and is loaded by ${trigger}`, async (t) => {
    const repair = breakPanel();
    const widget = await open(t);
    await widget.role("input").fill(QUESTION);
    await widget.role("input").press("Enter");
    await widget.role("load-failed").waitFor();
    await widget.becomes("error");
    assert.equal((await widget.events("error"))[0].detail.code, "load_failed");
    // The focus may have begun a first attempt, and the question a second.
    await widget.until(async () => (await widget.role("input").inputValue()) === QUESTION, "the question is back");
    repair();
    if (trigger === "Enter") {
      await widget.role("input").press("Enter");
    } else {
      await widget.role("load-failed").locator("[data-role=retry]").click();
      await widget.role("history-open").waitFor();
      assert.equal(await widget.role("input").inputValue(), QUESTION);
      await widget.role("input").press("Enter");
    }
    assert.match(await (await widget.reply("done")).innerText(), ANSWER);
    assert.equal(await widget.all("load-failed").count(), 0);
    assert.deepEqual(
      (await widget.all("user").allInnerTexts()).map((text) => text.trim()),
      [QUESTION],
    );
  });
}

test("an endpoint that is set late loads the site's greeting and suggestions", async (t) => {
  site.api.config = { ...site.api.config, greeting: "Ask about our tents.", suggested_questions: ["Is it dry?"] };
  const widget = await open(t, { attributes: { endpoint: null } });
  await widget.role("input").click();
  await widget.role("history-open").waitFor();
  await widget.becomes("ready");
  assert.equal(await widget.all("suggested").count(), 0);
  assert.deepEqual(site.api.requests, []);
  await widget.element.evaluate((element, url) => element.setAttribute("endpoint", url), site.api.endpoint);
  await widget.role("suggested").waitFor();
  assert.match(await widget.role("log").innerText(), /Ask about our tents\./);
  await widget.role("suggested").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
});

for (const width of [1280, 360]) {
  test(`the default heading of a floating panel is not cut off in a window of ${width} pixels`, async (t) => {
    const widget = await open(t, { attributes: { mode: "floating" } });
    await widget.page.setViewportSize({ width, height: 800 });
    await widget.role("launcher").click();
    await widget.ask(QUESTION);
    const newChat = widget.role("new");
    for (const lang of ["en", "de", "es", "fr", "ar", "ja"]) {
      await widget.element.evaluate((element, lang) => element.setAttribute("lang", lang), lang);
      await widget.page.waitForTimeout(200);
      const [room, text] = await widget.element
        .locator("#heading")
        .evaluate(({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth]);
      assert.ok(text <= room, `${lang}: ${text} of ${room} pixels`);
      assert.ok((await newChat.boundingBox()).width < 60, `${lang}: the button is an icon`);
      assert.notEqual((await newChat.innerText()).trim(), "", `${lang}: the button keeps its name`);
    }
  });
}

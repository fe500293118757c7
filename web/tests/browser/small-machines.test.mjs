// What the widget costs a small machine: nothing while it is closed, no copy of the model on the page's thread, and no download on
// a second visit, also without a connection. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { gate } from "./support/answers.mjs";
import { WIDGET } from "./pages/widget/site.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, browser, open } = await startWidgetSuite();

/** Options of a page that waits for a frame as long as it takes. */
const PATIENT = { setUp: (page) => page.addInitScript(waitForFrames) };

const CACHED = "public, max-age=31536000, immutable";

/** Runs before all other code of a page or worker: counts what may wake the processor. */
function countWakeUps() {
  const scope = /** @type {any} */ (globalThis);
  const pending = new Map();
  scope.wakeUps = { pending, scheduled: 0 };
  const track = (schedule, cancel) => {
    const { [schedule]: original, [cancel]: originalCancel } = scope;
    if (!original) return;
    scope[schedule] = (task, ...rest) => {
      scope.wakeUps.scheduled++;
      const run = (...given) => {
        if (schedule !== "setInterval") pending.delete(`${schedule} ${id}`);
        return task(...given);
      };
      const id = original.call(scope, run, ...rest);
      pending.set(`${schedule} ${id}`, rest[0]);
      return id;
    };
    scope[cancel] = (id) => {
      pending.delete(`${schedule} ${id}`);
      originalCancel.call(scope, id);
    };
  };
  track("setTimeout", "clearTimeout");
  track("setInterval", "clearInterval");
  track("requestAnimationFrame", "cancelAnimationFrame");
  track("requestIdleCallback", "cancelIdleCallback");
}

/** The same in the embedder's worker, which reports to the page. */
const IN_WORKER = `(${countWakeUps.toString()})();
  const reports = new BroadcastChannel("wake-ups");
  reports.onmessage = () => reports.postMessage({ pending: [...wakeUps.pending.keys()], scheduled: wakeUps.scheduled });\n`;

/** What is pending in page and worker, and how much was ever scheduled, animated or requested. */
async function activity(widget) {
  const inPage = await widget.page.evaluate(async () => {
    const scope = /** @type {any} */ (globalThis);
    const channel = new BroadcastChannel("wake-ups");
    const worker = await new Promise((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
      channel.postMessage("report");
      // No worker runs before the widget is used.
      if (!document.querySelector("evidence-chat[data-state=ready]")) resolve({ pending: [], scheduled: 0 });
    });
    channel.close();
    const animations = document.getAnimations().filter(({ playState }) => playState === "running");
    return {
      pending: [...scope.wakeUps.pending.keys(), ...worker.pending, ...animations.map(String)],
      scheduled: scope.wakeUps.scheduled + worker.scheduled,
    };
  });
  return { ...inPage, requests: site.requests.length + site.api.requests.length };
}

async function isQuiet(widget) {
  await widget.until(
    async () => (await activity(widget)).pending.length === 0,
    "no timer, frame or animation is pending",
  );
  const before = await activity(widget);
  await widget.page.waitForTimeout(1000);
  assert.deepEqual(await activity(widget), before);
}

test("a widget that was never opened has no timer, no animation frame and no request", async (t) => {
  const widget = await open(t, { attributes: { mode: "floating" }, init: countWakeUps });
  await widget.role("launcher").waitFor();
  await isQuiet(widget);
});

test("a widget that was used and closed has no timer, no animation frame and no request, also in its worker", async (t) => {
  site.interfere = async (path, response) => {
    if (!/^\/widget\/worker-\w+\.js$/.test(path)) return false;
    response.writeHead(200, { "content-type": "text/javascript", "content-security-policy": site.csp });
    response.end(IN_WORKER + (await readFile(`${WIDGET}/${path.slice("/widget/".length)}`, "utf8")));
    return true;
  };
  const widget = await open(t, { attributes: { mode: "floating" }, init: countWakeUps });
  await widget.role("launcher").click();
  await widget.ask(QUESTION);
  await widget.call("close");
  await isQuiet(widget);
});

test("the page's thread never has a copy of the model: no buffer of its size arrives there or is made there", async (t) => {
  await site.forgetModel(browser);
  const widget = await open(t, { init: watchBuffers });
  await widget.ask(QUESTION);
  await widget.becomes("ready");
  const { largest, fetched } = await widget.page.evaluate(() => globalThis.buffers);
  assert.ok(largest < 1_000_000, `a buffer of ${largest} bytes`);
  assert.deepEqual(
    fetched.filter((url) => /safetensors|\.wasm$/.test(url)),
    [],
  );
  assert.equal(site.modelRequests().length, 1, "the worker downloads it");
});

/** Runs in the page: observes everything by which bytes get into its thread. */
function watchBuffers() {
  const scope = /** @type {any} */ (globalThis);
  const seen = { largest: 0, fetched: [] };
  scope.buffers = seen;
  const note = (bytes) => (seen.largest = Math.max(seen.largest, bytes || 0));
  const { fetch } = scope;
  scope.fetch = (input, init) => {
    seen.fetched.push(String(input?.url ?? input));
    return fetch(input, init);
  };
  for (const name of ["ArrayBuffer", "Uint8Array", "Float32Array", "Int8Array"]) {
    scope[name] = new Proxy(scope[name], {
      construct(target, given, newTarget) {
        const made = Reflect.construct(target, given, newTarget);
        note(made.byteLength);
        return made;
      },
    });
  }
  const sizeOf = (value, depth = 0) => {
    if (value === null || typeof value !== "object" || depth > 3) return 0;
    if (typeof value.byteLength === "number") return value.byteLength;
    if (value instanceof Blob) return value.size;
    return Object.values(value).reduce((sum, part) => sum + sizeOf(part, depth + 1), 0);
  };
  const { addEventListener } = Worker.prototype;
  const descriptor = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(Worker.prototype, "onmessage"));
  Object.defineProperty(Worker.prototype, "onmessage", {
    ...descriptor,
    set(listener) {
      addEventListener.call(this, "message", (event) => note(sizeOf(/** @type {MessageEvent} */ (event).data)));
      descriptor.set?.call(this, listener);
    },
  });
  for (const { prototype } of [Response, Blob]) {
    const { arrayBuffer } = prototype;
    prototype.arrayBuffer = async function () {
      const buffer = await arrayBuffer.call(this);
      note(buffer.byteLength);
      return buffer;
    };
  }
}

// Before the next test, which leaves the panel in the browser's cache.
test("a question that waits for the panel is shown after the panel is drawn, so that no frame of a slow page lays out both", async (t) => {
  const panel = gate();
  site.interfere = async (path) => {
    if (path.includes("/panel-")) await panel.opened;
    return false;
  };
  const widget = await open(t, PATIENT);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  const parts = { panel: "[data-role=new]", question: "[data-role=user]" };
  await widget.page.evaluate(noteTurns, { kind: "frame", parts });
  panel.open();
  await widget.reply("done");
  const turns = await widget.page.evaluate(() => globalThis.turns);
  assert.ok(
    turns.question > turns.panel,
    `the panel appeared after frame ${turns.panel}, the question after ${turns.question}`,
  );
});

test("a second visit needs no connection for the model and the embedder, and says that questions do", async (t) => {
  site.cacheControl = CACHED;
  const first = await open(t);
  await first.ask(QUESTION);
  await first.page.close();
  const second = await open(t);
  await second.role("input").waitFor();
  const context = second.page.context();
  t.after(() => context.setOffline(false));
  const before = site.requests.length;
  await context.setOffline(true);
  await second.role("input").click();
  await second.becomes("ready");
  await second.role("offline").waitFor();
  assert.equal(site.requests.length, before, "no request reaches the server");
  await second.ask(QUESTION, "failed");
  assert.equal(await second.role("error").getAttribute("data-code"), "connection_lost");
  await context.setOffline(false);
  await second.role("offline").waitFor({ state: "detached" });
  await second.role("retry").click();
  assert.match(await (await second.reply("done")).innerText(), ANSWER);
});

test("an answer that arrives at once is shown in several tasks, so that a slow page draws and handles input between them", async (t) => {
  const widget = await open(t, { init: slowTime });
  const { answer, source } = await turnsOfAnswer(widget, "task");
  assert.ok(source > answer, `the answer appeared in task ${answer}, its sources in task ${source}`);
});

test("an answer is drawn before its sources and these before its tools, so that no frame of a slow page lays out two of them", async (t) => {
  const widget = await open(t, PATIENT);
  const { answer, source, copy } = await turnsOfAnswer(widget, "frame");
  assert.ok(source > answer, `the answer was drawn after frame ${answer}, its sources after frame ${source}`);
  assert.ok(copy > source, `the sources were drawn after frame ${source}, the tools after frame ${copy}`);
});

test("a page that draws no frames gets the whole answer", async (t) => {
  const widget = await open(t, { init: () => (globalThis.requestAnimationFrame = () => 0) });
  const reply = await widget.ask(QUESTION);
  await reply.locator("[data-role=copy]").waitFor();
});

test("a hidden tab, whose timers run late, gets the whole answer without them", async (t) => {
  const widget = await open(t, { ...PATIENT, init: hiddenTab });
  const reply = await widget.ask(QUESTION);
  await reply.locator("[data-role=copy]").waitFor();
});

/** Runs in the page before all other code. */
function hiddenTab() {
  Object.defineProperty(document, "hidden", { value: true });
  globalThis.requestAnimationFrame = () => 0;
}

/** Runs in the page before all other code: a timer as long as a wait for a frame never ends. */
function waitForFrames() {
  const { setTimeout: original } = globalThis;
  globalThis.setTimeout = /** @type {any} */ (
    (task, delay, ...rest) => (delay === 100 ? 0 : original(task, delay, ...rest))
  );
}

/** Runs in the page before all other code: each look at the clock takes 20 ms, as on a slow computer. */
function slowTime() {
  const now = performance.now.bind(performance);
  let passed = 0;
  performance.now = () => now() + (passed += 20);
  // Its tasks would be run before those that are counted.
  delete (/** @type {any} */ (globalThis).Scheduler?.prototype.yield);
}

/** The numbers of the tasks or frames after which an answer, its sources and its tools appeared. */
async function turnsOfAnswer(widget, /** @type {"task" | "frame"} */ kind) {
  // Loads the code that only an answer needs.
  await widget.ask(QUESTION);
  const second = "[data-role=assistant] ~ [data-role=assistant]";
  const parts = {
    answer: `${second} [data-role=answer]`,
    source: `${second} [data-role=source]`,
    copy: `${second} [data-role=copy]`,
  };
  await widget.page.evaluate(noteTurns, { kind, parts });
  await widget.ask(QUESTION);
  return widget.page.evaluate(() => globalThis.turns);
}

/** Runs in the page: counts its tasks or frames, and notes after which of them each part, by its selector, first has text. */
function noteTurns({ kind, parts }) {
  const turns = {};
  Object.assign(globalThis, { turns });
  const missing = new Map(Object.entries(parts));
  let turn = 0;
  const { port1, port2 } = new MessageChannel();
  const next = () => (kind === "frame" ? requestAnimationFrame(count) : port2.postMessage(null));
  const count = () => {
    turn++;
    if (missing.size > 0) next();
  };
  port1.onmessage = count;
  next();
  const { shadowRoot } = /** @type {HTMLElement} */ (document.querySelector("evidence-chat"));
  const root = /** @type {ShadowRoot} */ (shadowRoot);
  new MutationObserver(() => {
    for (const [part, selector] of missing) {
      if (!root.querySelector(selector)?.textContent) continue;
      turns[part] = turn;
      missing.delete(part);
    }
  }).observe(root, { childList: true, subtree: true, characterData: true });
}

// Answers the commands of WebDriver BiDi that playwright-core sends, by commands of WebDriver to WebKit, which has no BiDi yet.
// So the tests that are written for Playwright also run in WebKit. What has no counterpart in WebDriver fails with the error
// `unsupported operation`: interception of requests, network events, emulation.
import { setImmediate as nextTurn } from "node:timers/promises";
import { startDriver } from "./driver.mjs";
import { knownCode, parenthesized } from "./known-code.mjs";
import { BRIDGE } from "./page-script.mjs";
import { preloadScripts } from "./preload.mjs";
import { expression, remoteValue } from "./values.mjs";

/** How long a command waits for its outcome before others have their turn, in milliseconds. */
const TURN = 40;
/** Between two looks at a page without commands, in milliseconds. */
const IDLE = 100;
/** How often new windows are looked for, in milliseconds. */
const WINDOWS_EVERY = 500;
const RESIZE_TIMEOUT = 2000;

/** Commands that may do nothing. */
const WITHOUT_EFFECT = new Set([
  "browser.setDownloadBehavior",
  "browsingContext.activate",
  "emulation.setMediaFeaturesOverride",
  "emulation.setScreenOrientationOverride",
  "emulation.setScreenSettingsOverride",
  "network.addDataCollector",
  "network.setCacheBehavior",
  "session.subscribe",
]);

/** A transport for Playwright: `send(message)`, `onmessage`, `onclose` and `close()`. */
export class BidiTransport {
  /** @type {((message: object) => void) | undefined} */
  onmessage;
  /** @type {((reason?: string) => void) | undefined} */
  onclose;
  #driver;
  /** Pages by the handle of their window. */
  #pages = new Map();
  /** Work that waits for its turn; only one command of WebDriver runs at a time. */
  #queue = [];
  #isRunning = false;
  #isClosed = false;
  #messages = [];
  #isDelivering = false;
  /** The page of each script that runs first in one page only. */
  #preloads = new Map();
  #viewport;
  #lastId = 0;
  #hasFirstPage = false;
  #windowsSeenAt = 0;
  #idle;

  /** Starts a browser that keeps its files in the folder. */
  static async open(folder, options) {
    return new BidiTransport(await startDriver(folder, options));
  }

  constructor(driver) {
    this.#driver = driver;
    this.#idle = setInterval(() => this.#lookAround(), IDLE);
    this.#idle.unref();
  }

  get browserVersion() {
    return this.#driver.capabilities.browserVersion;
  }

  send({ id, method, params }) {
    const respond = async () => {
      try {
        const result = await this.#perform(method, params, id);
        if (result !== LATER) void this.#deliver({ type: "success", id, result: result ?? {} });
      } catch (error) {
        const { code = "unknown error", message } = /** @type {Error & { code?: string }} */ (error);
        void this.#deliver({ type: "error", id, error: code, message });
      }
    };
    void this.#enqueue(respond);
  }

  async close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#idle);
    await this.#driver.end();
    this.onclose?.();
  }

  /** Playwright expects events and responses one by one. */
  async #deliver(message) {
    this.#messages.push(message);
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let next = this.#messages.shift(); next; next = this.#messages.shift()) {
      this.onmessage?.(next);
      await nextTurn();
    }
    this.#isDelivering = false;
  }

  #emit(method, params) {
    void this.#deliver({ type: "event", method, params });
  }

  async #enqueue(work) {
    this.#queue.push(work);
    if (this.#isRunning) return;
    this.#isRunning = true;
    try {
      while (!this.#isClosed) {
        const next = this.#queue.shift();
        if (next) await next();
        else {
          const waiting = [...this.#pages.values()].filter(({ calls }) => calls.size > 0);
          if (waiting.length === 0) break;
          for (const page of waiting) await this.#collect(page, TURN);
        }
      }
    } finally {
      this.#isRunning = false;
    }
  }

  /** Looks for navigations, logs and new windows that no command caused. */
  #lookAround() {
    if (this.#isRunning || this.#isClosed || !this.#hasFirstPage) return;
    void this.#enqueue(async () => {
      for (const page of this.#pages.values()) await this.#collect(page, 0);
      if (Date.now() - this.#windowsSeenAt > WINDOWS_EVERY) await this.#findWindows();
    });
  }

  async #findWindows() {
    this.#windowsSeenAt = Date.now();
    const handles = await this.#driver.windows().catch(() => undefined);
    if (!handles) return;
    for (const page of [...this.#pages.values()]) if (!handles.includes(page.context)) this.#forget(page);
    for (const handle of handles) if (!this.#pages.has(handle)) await this.#adopt(handle);
  }

  #forget(page) {
    this.#pages.delete(page.context);
    for (const [script, context] of this.#preloads) if (context === page.context) preloadScripts.delete(script);
    this.#emit("browsingContext.contextDestroyed", { context: page.context, url: page.url, parent: null });
  }

  /** A window becomes a page of Playwright. */
  async #adopt(context) {
    const page = { context, document: undefined, url: "about:blank", readyState: "complete", calls: new Map() };
    this.#pages.set(context, page);
    const others = {
      userContext: "default",
      children: null,
      clientWindow: context,
      originalOpener: null,
      parent: null,
    };
    this.#emit("browsingContext.contextCreated", { context, url: "about:blank", ...others });
    await this.#collect(page, 0);
    return page;
  }

  async #perform(method, params, id) {
    if (WITHOUT_EFFECT.has(method)) return { collector: "1" };
    const page = this.#pages.get(params.context ?? params.target?.context);
    switch (method) {
      case "session.new":
        return { sessionId: "webkit", capabilities: this.#driver.capabilities };
      case "browser.close":
        setImmediate(() => void this.close());
        return {};
      case "network.addIntercept":
        if (params.phases.includes("authRequired")) return { intercept: "authentication" };
        break;
      case "script.addPreloadScript": {
        const script = `preload-${++this.#lastId}`;
        preloadScripts.set(script, call(params.functionDeclaration, params.arguments ?? []));
        this.#preloads.set(script, params.contexts?.[0]);
        return { script };
      }
      case "script.removePreloadScript":
        preloadScripts.delete(params.script);
        return {};
      case "browsingContext.create":
        return { context: await this.#create() };
      case "browsingContext.setViewport":
        if (page) return this.#resize(page, params.viewport);
        this.#viewport = params.viewport;
        return {};
      case "browser.createUserContext":
        break;
      default:
        if (!page && params.context) throw Object.assign(new Error("the window is closed"), { code: "no such frame" });
        if (page) return this.#performOn(page, method, params, id);
    }
    throw Object.assign(new Error(`${method} in WebKit`), { code: "unsupported operation" });
  }

  async #performOn(page, method, params, id) {
    const driver = this.#driver;
    await driver.switchTo(page.context);
    switch (method) {
      case "browsingContext.navigate":
        return this.#navigate(page, () => driver.post("/url", { url: params.url }), params.url);
      case "browsingContext.reload":
        return this.#navigate(page, () => driver.post("/refresh"), page.url);
      case "browsingContext.traverseHistory":
        return this.#navigate(page, () => driver.post(params.delta < 0 ? "/back" : "/forward"), page.url);
      case "browsingContext.close":
        await driver.closeWindow(page.context);
        this.#forget(page);
        return {};
      case "browsingContext.captureScreenshot":
        return { data: await driver.get("/screenshot") };
      case "input.performActions":
        await driver.post("/actions", { actions: params.actions.map(classicActions) });
        await this.#collect(page, 0);
        return {};
      case "script.disown":
        await this.#run(page, params.handles.map((handle) => `bridge.disown(${JSON.stringify(handle)});`).join(""), 0);
        return {};
      case "script.evaluate":
      case "script.callFunction":
        return this.#evaluate(page, params, id);
    }
    throw Object.assign(new Error(`${method} in WebKit`), { code: "unsupported operation" });
  }

  async #create() {
    const [first] = await this.#driver.windows();
    const handle = this.#hasFirstPage ? await this.#driver.openWindow() : first;
    this.#hasFirstPage = true;
    const page = await this.#adopt(handle);
    // An empty page comes from no server that could insert them.
    const scripts = [...preloadScripts].filter(([script]) => this.#preloads.has(script) && !this.#preloads.get(script));
    await this.#run(page, scripts.map(([, text]) => `${text};`).join("\n"), 0);
    if (this.#viewport) await this.#resize(page, this.#viewport);
    return handle;
  }

  /** Sets the size of the window so that its content has that size. */
  async #resize(page, viewport) {
    if (!viewport) return {};
    await this.#driver.switchTo(page.context);
    const inner = async () =>
      JSON.parse(await this.#driver.run("arguments[0](JSON.stringify([innerWidth, innerHeight]))"));
    const deadline = Date.now() + RESIZE_TIMEOUT;
    for (;;) {
      const [width, height] = await inner();
      if (width === viewport.width && height === viewport.height) return {};
      const frame = await this.#driver.get("/window/rect");
      const wanted = { width: frame.width + viewport.width - width, height: frame.height + viewport.height - height };
      await this.#driver.post("/window/rect", wanted);
      await new Promise((resolve) => setTimeout(resolve, TURN));
      const [newWidth, newHeight] = await inner();
      if (newWidth === viewport.width && newHeight === viewport.height) return {};
      if (Date.now() > deadline) {
        const message = `a window of ${viewport.width} × ${viewport.height} pixels in MiniBrowser, which has ${newWidth} × ${newHeight}`;
        throw Object.assign(new Error(message), { code: "unsupported operation" });
      }
    }
  }

  async #navigate(page, go, url) {
    const navigation = `navigation-${++this.#lastId}`;
    this.#emit("browsingContext.navigationStarted", { context: page.context, navigation, url });
    page.navigation = navigation;
    try {
      await go();
    } catch (error) {
      this.#emit("browsingContext.navigationFailed", { context: page.context, navigation, url });
      throw error;
    }
    await this.#collect(page, 0);
    // A fragment of the same document.
    if (page.navigation === navigation) page.navigation = undefined;
    return { navigation, url: page.url };
  }

  /** Starts the evaluation. Its response is sent when its outcome is collected. */
  async #evaluate(page, params, id) {
    const { functionDeclaration, arguments: given = [], awaitPromise } = params;
    const action =
      functionDeclaration === undefined
        ? parenthesized(params.expression)
        : call(functionDeclaration, given, knownCode(given));
    const isByValue = params.serializationOptions?.maxObjectDepth !== 0;
    page.calls.set(id, params.target?.sandbox);
    const script = `bridge.start(${id}, ${isByValue}, ${awaitPromise}, () => ${action});`;
    try {
      await this.#run(page, script, TURN);
    } catch (error) {
      page.calls.delete(id);
      throw error;
    }
    return LATER;
  }

  async #collect(page, milliseconds) {
    try {
      await this.#driver.switchTo(page.context);
      await this.#run(page, "", milliseconds);
    } catch {
      // The document was replaced meanwhile, or the window closed; the next look says which.
    }
  }

  async #run(page, script, milliseconds) {
    const text = `const done = arguments[0]; const bridge = ${BRIDGE}; ${script} bridge.wait(${milliseconds}, done);`;
    const report = JSON.parse(await this.#driver.run(text));
    this.#noteDocument(page, report);
    const source = { realm: page.document, context: page.context };
    for (const { type, text } of report.logs) {
      const entry = { type, level: "error", text, source, timestamp: Date.now() };
      const message = type === "console" ? { method: "error", args: [{ type: "string", value: text }] } : {};
      this.#emit("log.entryAdded", { ...entry, ...message });
    }
    for (const { channel, data } of report.messages) {
      this.#emit("script.message", { channel, data: { type: "string", value: data }, source });
    }
    for (const { call, result, exception } of report.outcomes) this.#answer(page, call, result, exception);
  }

  #answer(page, id, result, exception) {
    if (!page.calls.has(id)) return;
    const realm = page.calls.get(id) ? `${page.document}-utility` : page.document;
    page.calls.delete(id);
    const outcome =
      exception === undefined
        ? { type: "success", result: remoteValue(result, page.context) }
        : { type: "exception", exceptionDetails: { text: exception } };
    void this.#deliver({ type: "success", id, result: { ...outcome, realm } });
  }

  /** Reports a new document to Playwright, and that it is loaded. */
  #noteDocument(page, { id, url, readyState }) {
    const { context } = page;
    const isNew = page.document !== id;
    if (isNew) {
      const old = page.document;
      for (const realm of old ? [old, `${old}-utility`] : []) this.#emit("script.realmDestroyed", { realm });
      for (const call of page.calls.keys()) {
        const message = "Execution context was destroyed, most likely because of a navigation";
        void this.#deliver({ type: "error", id: call, error: "no such frame", message });
      }
      page.calls.clear();
      const isFirst = old === undefined;
      Object.assign(page, { document: id, readyState: "loading" });
      if (!isFirst) {
        const navigation = page.navigation ?? `navigation-${++this.#lastId}`;
        page.navigation = undefined;
        this.#emit("browsingContext.navigationCommitted", { context, navigation, url });
      }
      this.#emit("script.realmCreated", { realm: id, type: "window", context, origin: new URL(url).origin });
    } else if (page.url !== url) this.#emit("browsingContext.historyUpdated", { context, url });
    page.url = url;
    if (page.readyState === "loading" && readyState !== "loading") {
      this.#emit("browsingContext.domContentLoaded", { context, url });
    }
    if (page.readyState !== "complete" && readyState === "complete") {
      this.#emit("browsingContext.load", { context, url });
    }
    page.readyState = readyState;
  }
}

/** The response comes later. */
const LATER = Symbol("later");

/** Calls a function with values of BiDi. */
function call(functionDeclaration, given, before = "") {
  return `(() => { ${before} return (${functionDeclaration})(${given.map(expression).join(", ")}); })()`;
}

/** WebDriver takes whole pixels. */
function classicActions({ actions, ...source }) {
  const whole = (value) => (typeof value === "number" ? Math.round(value) : value);
  return {
    ...source,
    actions: actions.map((action) => ({
      ...action,
      ...("x" in action && { x: whole(action.x), y: whole(action.y), origin: "viewport", duration: 0 }),
      ...("deltaX" in action && { deltaX: whole(action.deltaX), deltaY: whole(action.deltaY) }),
    })),
  };
}

// What runs in a page of WebKit: keeps handles to objects, and results until they are fetched.

/**
 * Makes the object that `tests/lib/webkit/bidi.mjs` talks to, once per document. Runs in the page, as source code, before
 * every script of the page.
 */
function install() {
  const KEY = Symbol.for("webdriver bridge");
  if (globalThis[KEY]) return globalThis[KEY];
  // A test may replace the timers.
  const { setTimeout, clearTimeout } = globalThis.__pwClock?.builtins ?? globalThis;
  const later = setTimeout.bind(globalThis);
  const cancel = clearTimeout.bind(globalThis);
  const id = Math.random().toString(36).slice(2);
  const handles = new Map();
  let lastHandle = 0;
  let outcomes = [];
  let logs = [];
  let messages = [];
  /** @type {(() => void) | undefined} */
  let wake;
  const log = (entry) => logs.push(entry);
  const describe = (error) => (error instanceof Error ? `${error.name}: ${error.message}` : `Error: ${String(error)}`);
  addEventListener("error", ({ error, message }) =>
    log({ type: "javascript", text: error ? describe(error) : message }),
  );
  addEventListener("unhandledrejection", ({ reason }) => log({ type: "javascript", text: describe(reason) }));
  const consoleError = console.error;
  console.error = (...values) => {
    log({ type: "console", text: values.map(String).join(" ") });
    consoleError.apply(console, values);
  };
  addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sample }) =>
    log({ type: "console", text: `Content Security Policy: ${violatedDirective} ${blockedURI} ${sample}` }),
  );

  const typeOf = (value) => {
    if (typeof value === "function") return "function";
    if (value instanceof Node) return "node";
    if (Array.isArray(value)) return "array";
    if (value === globalThis) return "window";
    return "object";
  };
  /** A value as WebDriver BiDi describes it, or `{json}` for an object that is wanted by value. */
  const encode = (value, isByValue) => {
    if (value === undefined || value === null) return { type: String(value) };
    if (typeof value === "bigint") return { type: "bigint", value: String(value) };
    if (typeof value === "number") {
      const isPlain = Number.isFinite(value) && !Object.is(value, -0);
      return { type: "number", value: isPlain ? value : Object.is(value, -0) ? "-0" : String(value) };
    }
    if (typeof value === "string" || typeof value === "boolean") return { type: typeof value, value };
    if (typeof value === "symbol") return { type: "symbol" };
    if (isByValue) return { json: JSON.stringify(value) };
    const handle = `${id}:${++lastHandle}`;
    handles.set(handle, value);
    return { type: typeOf(value), handle, sharedId: handle };
  };
  // Source code that the driver's script contains: a policy of the page may forbid to evaluate it.
  const code = new Map();
  const evaluate = globalThis.eval;
  globalThis.eval = (text) => (code.has(text) ? code.get(text)() : evaluate(text));
  const bridge = {
    know: (text, compiled) => code.set(text, compiled),
    get(handle) {
      if (!handles.has(handle)) throw new Error(`no such handle: ${handle}`);
      return handles.get(handle);
    },
    disown: (handle) => handles.delete(handle),
    message: (channel, data) => {
      messages.push({ channel, data });
      wake?.();
    },
    /** Starts a call; its outcome is fetched with `wait`. */
    start(call, isByValue, awaits, action) {
      const settle = (outcome) => {
        outcomes.push({ call, ...outcome });
        wake?.();
      };
      const succeed = (value) => settle({ result: encode(value, isByValue) });
      const fail = (error) => settle({ exception: describe(error) });
      try {
        const value = action();
        if (awaits && typeof value?.then === "function") value.then(succeed, fail);
        else succeed(value);
      } catch (error) {
        fail(error);
      }
    },
    /** Reports outcomes and events as soon as there are some, or after that many milliseconds. */
    wait(milliseconds, done) {
      const report = () => {
        cancel(timer);
        wake = undefined;
        const { readyState } = document;
        done(JSON.stringify({ id, url: location.href, readyState, outcomes, logs, messages }));
        [outcomes, logs, messages] = [[], [], []];
      };
      const timer = later(report, milliseconds);
      if (outcomes.length > 0 || messages.length > 0 || milliseconds === 0) report();
      else wake = report;
    },
  };
  Object.defineProperty(globalThis, KEY, { value: bridge });
  return bridge;
}

/** An expression for the object, which makes it if a document does not have it yet. */
export const BRIDGE = `(${String(install)})()`;

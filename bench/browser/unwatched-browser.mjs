// Pages of Chromium whose memory is that of a visitor. Playwright listens to the network, and then the process of a page keeps a
// copy of each response: of the model, too. This driver does not, and has only what the benchmarks of memory need.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { ARGS } from "../../tests/lib/browser.mjs";

const OWN_ARGS = ["--headless=new", "--no-sandbox", "--remote-debugging-port=0", "about:blank"];
/** Of anything that Chromium is asked for. */
const TIMEOUT_MS = 120_000;
const MAX_CLOSE_MS = 10_000;
const PAUSE_MS = 50;

/** Starts Chromium with a new profile. */
export async function openUnwatchedBrowser() {
  const { CHROMIUM_PATH } = process.env;
  if (!CHROMIUM_PATH) throw new Error("CHROMIUM_PATH is not set");
  const profile = await mkdtemp(join(tmpdir(), "evidence-chat-browser-"));
  const args = [...ARGS, `--user-data-dir=${profile}`, ...OWN_ARGS];
  const chromium = spawn(CHROMIUM_PATH, args, { stdio: ["ignore", "ignore", "pipe"] });
  const kill = () => chromium.kill("SIGKILL");
  process.once("exit", kill);
  /** @type {Promise<Error | null>} */
  const ended = new Promise((resolve) => {
    chromium.once("error", resolve);
    chromium.once("close", () => resolve(null));
  });
  const close = async () => {
    chromium.kill();
    const limit = setTimeout(kill, MAX_CLOSE_MS);
    await ended;
    clearTimeout(limit);
    process.off("exit", kill);
    // The last processes of a browser may still write.
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const address = await within(addressOf(chromium.stderr, ended), "the start of Chromium");
    const connection = await Connection.open(address);
    return { newPage: () => UnwatchedPage.open(connection), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The address that Chromium prints once it listens. */
async function addressOf(
  /** @type {import("node:stream").Readable} */ output,
  /** @type {Promise<Error | null>} */ ended,
) {
  const lines = [];
  for await (const line of createInterface({ input: output })) {
    const address = /^DevTools listening on (ws:.*)$/.exec(line)?.[1];
    if (address) {
      output.resume();
      return address;
    }
    lines.push(line);
  }
  throw new Error(`Chromium ended before it listened:\n${lines.join("\n")}`, { cause: await ended });
}

async function within(result, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result of ${what} within ${TIMEOUT_MS / 1000} s`)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The Chrome DevTools Protocol over a WebSocket. */
class Connection {
  #socket;
  #pending = new Map();
  #listeners = new Map();
  #lastId = 0;

  static async open(address) {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`cannot connect to ${address}`));
    });
    return new Connection(socket);
  }

  constructor(socket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = () => this.#rejectAll("Chromium has closed the connection");
  }

  async send(method, params = {}, sessionId = undefined) {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error("Chromium has closed the connection");
    const id = ++this.#lastId;
    const result = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return within(result, method);
  }

  /** Calls `listener` for this event of a session; replaces the one before. */
  on(method, sessionId, listener) {
    this.#listeners.set(`${method} ${sessionId}`, listener);
  }

  #receive({ id, method, params, sessionId, result, error }) {
    if (method === "Inspector.targetCrashed") return this.#rejectAll("the page has crashed");
    if (id === undefined) return this.#listeners.get(`${method} ${sessionId}`)?.(params);
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
  }

  #rejectAll(reason) {
    for (const { reject } of this.#pending.values()) reject(new Error(reason));
    this.#pending.clear();
  }
}

/** The part of Playwright's `Page` that is needed, with its names. */
class UnwatchedPage {
  #connection;
  #target;
  #session;

  static async open(connection) {
    const { targetId } = await connection.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await connection.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new UnwatchedPage(connection, targetId, sessionId);
    await page.#send("Page.enable");
    await page.#send("Inspector.enable");
    return page;
  }

  constructor(connection, target, session) {
    this.#connection = connection;
    this.#target = target;
    this.#session = session;
  }

  /** `handler` answers each request to these addresses, and no other one. */
  route(urlPattern, handler) {
    this.#on("Fetch.requestPaused", ({ requestId, request }) => {
      const fulfill = ({ contentType, body }) =>
        this.#send("Fetch.fulfillRequest", {
          requestId,
          responseCode: 200,
          responseHeaders: [{ name: "content-type", value: contentType }],
          body: Buffer.from(body).toString("base64"),
        });
      // Without an answer, `goto` fails.
      Promise.resolve(handler({ request: () => ({ url: () => request.url }), fulfill })).catch(console.error);
    });
    return this.#send("Fetch.enable", { patterns: [{ urlPattern }] });
  }

  async goto(url) {
    const { errorText } = await this.#send("Page.navigate", { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await this.waitForFunction(() => document.readyState === "complete");
  }

  async evaluate(task, argument = undefined) {
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", {
      expression: `(${task})(${JSON.stringify(argument)})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(describe(exceptionDetails));
    return result.value;
  }

  async waitForFunction(condition) {
    const end = performance.now() + TIMEOUT_MS;
    while (!(await this.evaluate(condition))) {
      if (performance.now() > end) throw new Error(`not true within ${TIMEOUT_MS / 1000} s: ${condition}`);
      await sleep(PAUSE_MS);
    }
  }

  close() {
    return this.#connection.send("Target.closeTarget", { targetId: this.#target });
  }

  #send(method, params = {}) {
    return this.#connection.send(method, params, this.#session);
  }

  #on(method, listener) {
    this.#connection.on(method, this.#session, listener);
  }
}

function describe({ exception, text }) {
  return exception?.description ?? `${text} ${JSON.stringify(exception?.value)}`;
}

// WebKitWebDriver with MiniBrowser on a display of its own, and a client of WebDriver (https://www.w3.org/TR/webdriver2/).
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** In pixels: with room for every window of the tests right of and below the pointer. */
const SCREEN = { width: 2800, height: 2400 };

/**
 * Where windows are. X leaves the pointer in the middle of the screen, here over the toolbar of MiniBrowser. Without a window manager,
 * the window under the pointer has the focus, and in a window without it nothing matches `:focus`.
 */
const WINDOW_POSITION = { x: SCREEN.width / 2 - 10, y: SCREEN.height / 2 - 10 };

const START_TIMEOUT = 30_000;

/** Shrinks the toolbar of MiniBrowser, whose window would otherwise be wider than a phone. Pages do not use this style sheet. */
const GTK_STYLE =
  "button, entry, image, label, toolitem { min-width: 0; padding: 0; margin: 0; border: none; font-size: 1px }";

/**
 * Starts a display, the driver and a session with one window. The browser keeps its files in the folder.
 * @param {string} folder
 * @param {{ reducedMotion?: null | "reduce" | "no-preference" }} [options]
 */
export async function startDriver(folder, { reducedMotion } = {}) {
  const { WEBKIT_DRIVER_PATH = "WebKitWebDriver", WEBKIT_BROWSER_PATH } = process.env;
  if (!WEBKIT_BROWSER_PATH)
    throw new Error("WEBKIT_BROWSER_PATH is not set; run these tests with `cargo xtask test browsers`");
  const processes = [];
  const end = async () => {
    for (const child of processes.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill();
      await Promise.race([once(child, "exit"), sleep(5000)]);
    }
  };
  try {
    const display = await startDisplay(processes);
    await mkdir(`${folder}/gtk-3.0`, { recursive: true });
    await writeFile(`${folder}/gtk-3.0/gtk.css`, GTK_STYLE);
    const animations = reducedMotion === "reduce" ? 0 : 1;
    await writeFile(`${folder}/gtk-3.0/settings.ini`, `[Settings]\ngtk-enable-animations=${animations}\n`);
    const folders = { XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, XDG_CACHE_HOME: folder };
    // In the C locale, `navigator.language` would be "C", which is no language.
    const locale = { LANG: "en_US.UTF-8", LC_ALL: "" };
    const env = { ...process.env, ...folders, ...locale, DISPLAY: display, GDK_BACKEND: "x11", NO_AT_BRIDGE: "1" };
    const origin = await startProgram(processes, WEBKIT_DRIVER_PATH, env);
    const driver = new Driver(origin, end);
    await driver.begin({ binary: WEBKIT_BROWSER_PATH, args: ["--automation"] });
    return driver;
  } catch (error) {
    await end();
    throw error;
  }
}

/** Starts a program that ends with this process, also if this one is killed: nobody else ends an orphaned display. */
function spawnTied(program, args, options) {
  return spawn("setpriv", ["--pdeathsig", "TERM", program, ...args], options);
}

/** Starts Xvfb, which chooses a free display and writes its number. */
async function startDisplay(processes) {
  const args = ["-displayfd", "3", "-screen", "0", `${SCREEN.width}x${SCREEN.height}x24`, "-nolisten", "tcp"];
  const child = spawnTied("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  processes.push(child);
  const number = new Promise((resolve, reject) => {
    child.stdio[3]?.once("data", (data) => resolve(String(data).trim()));
    child.once("error", reject);
    child.once("exit", () => reject(new Error("Xvfb ended")));
  });
  return `:${await number}`;
}

/** Starts the driver on a free port, and waits until it answers. It takes no port 0, so try some. */
async function startProgram(processes, program, env) {
  const deadline = Date.now() + START_TIMEOUT;
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const child = spawnTied(program, [`--port=${port}`], { env, stdio: "ignore" });
    let hasEnded = false;
    child.once("exit", () => (hasEnded = true));
    child.once("error", () => (hasEnded = true));
    while (!hasEnded) {
      const status = await fetch(`http://127.0.0.1:${port}/status`).catch(() => undefined);
      if (status?.ok) {
        processes.push(child);
        return `http://127.0.0.1:${port}`;
      }
      await sleep(50);
      if (Date.now() > deadline) {
        child.kill();
        throw new Error(`${program} did not start`);
      }
    }
    if (Date.now() > deadline) throw new Error(`${program} did not start`);
  }
}

/** An error of WebDriver; `code` is its error code. */
class DriverError extends Error {
  constructor(code, message) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** A session. Commands must not overlap. */
class Driver {
  #origin;
  #end;
  #session = "";
  #window = "";
  /** Of the new session. */
  capabilities = {};

  constructor(origin, end) {
    this.#origin = origin;
    this.#end = end;
  }

  async begin(browserOptions) {
    const alwaysMatch = { "webkitgtk:browserOptions": browserOptions, unhandledPromptBehavior: "ignore" };
    const { sessionId, capabilities } = await this.#send("POST", "/session", { capabilities: { alwaysMatch } });
    this.capabilities = capabilities;
    this.#session = `/session/${sessionId}`;
    await this.post("/timeouts", { script: 600_000, pageLoad: 60_000 });
    this.#window = await this.get("/window");
    await this.post("/window/rect", WINDOW_POSITION);
  }

  get(path) {
    return this.#send("GET", this.#session + path);
  }

  post(path, body = {}) {
    return this.#send("POST", this.#session + path, body);
  }

  windows() {
    return this.get("/window/handles");
  }

  /** The next commands are for that window. */
  async switchTo(handle) {
    if (this.#window === handle) return;
    await this.post("/window", { handle });
    this.#window = handle;
  }

  async openWindow() {
    // The current one may be closed.
    const [first] = await this.windows();
    await this.switchTo(first);
    const { handle } = await this.post("/window/new", { type: "window" });
    await this.switchTo(handle);
    await this.post("/window/rect", WINDOW_POSITION);
    return handle;
  }

  async closeWindow(handle) {
    await this.switchTo(handle);
    this.#window = "";
    return this.#send("DELETE", `${this.#session}/window`);
  }

  /** Runs the body of a function whose last argument is a callback; resolves with what the callback gets. */
  run(script) {
    return this.post("/execute/async", { script, args: [] });
  }

  async end() {
    await Promise.race([this.#send("DELETE", this.#session).catch(() => undefined), sleep(5000)]);
    await this.#end();
  }

  async #send(method, path, body) {
    const response = await fetch(this.#origin + path, { method, ...(body && { body: JSON.stringify(body) }) });
    const { value } = await response.json();
    if (!response.ok) throw new DriverError(value.error, value.message);
    return value;
  }
}

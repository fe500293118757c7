// Starts the real demo (`cargo xtask demo`) on its own data folder and ports.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const START_TIMEOUT_MS = 240_000;

/** A new folder that is removed when the test `t` ends. */
export async function temporaryFolder(t) {
  const folder = await mkdtemp(join(tmpdir(), "evidence-chat-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts the demo and waits until it has written its URLs.
 * @param {{data: string, kb?: string, options?: readonly string[], variables?: Record<string, string>}} settings folders, of which
 *   `kb` defaults to the sample knowledge base, further options of `cargo xtask demo`, and variables of the Worker
 */
export async function startDemo({ data, kb, options = [], variables = {} }) {
  const json = join(data, "demo.json");
  const args = ["demo", "--prebuilt", "--data", data, "--json", json, ...options];
  if (kb) args.push("--kb", kb);
  const child = spawn(/** @type {string} */ (process.env.XTASK_BINARY), args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = once(child, "exit");

  const deadline = Date.now() + START_TIMEOUT_MS;
  while (true) {
    if (child.exitCode !== null) throw new Error(`the demo ended with ${child.exitCode}:\n${output}`);
    if (Date.now() > deadline) {
      child.kill("SIGTERM");
      throw new Error(`the demo was not ready in ${START_TIMEOUT_MS / 1000} s:\n${output}`);
    }
    const info = await readJson(json);
    if (info) return new Demo(info, child, ended, await readJson(join(data, "keys.json")));
    await sleep(100);
  }
}

async function readJson(path) {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return null;
    throw error;
  }
}

class Demo {
  #child;
  #ended;
  #secretKey;

  constructor(info, child, ended, keys) {
    this.info = info;
    this.#child = child;
    this.#ended = ended;
    this.#secretKey = keys.secret_key;
  }

  /** Ends the demo as Ctrl-C does and resolves with its exit code. */
  async stop(signal = "SIGTERM") {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill(signal);
    const [code] = await this.#ended;
    return code;
  }

  /** Signs a new user up and returns an access token. */
  async newUser() {
    const email = `${crypto.randomUUID()}@example.com`;
    const response = await fetch(`${this.info.supabase_url}/auth/v1/signup`, {
      method: "POST",
      headers: { apikey: this.info.publishable_key, "content-type": "application/json" },
      body: JSON.stringify({ email, password: "a-password-for-tests" }),
    });
    const body = await response.json();
    if (!response.ok) throw new Error(`sign-up failed: ${response.status} ${JSON.stringify(body)}`);
    return body.access_token;
  }

  /** A PostgREST request; with the administrator's key unless a token is given. */
  async rest(method, path, /** @type {{ body?: unknown, token?: string }} */ { body, token } = {}) {
    const response = await fetch(`${this.info.supabase_url}/rest/v1/${path}`, {
      method,
      headers: {
        apikey: token ? this.info.publishable_key : this.#secretKey,
        authorization: `Bearer ${token ?? this.#secretKey}`,
        "content-type": "application/json",
        prefer: "return=representation",
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** Headers of a request with the administrator's key. */
  administrator() {
    return { apikey: this.#secretKey, authorization: `Bearer ${this.#secretKey}` };
  }

  /** Uploads a file to the bucket of original files as the administrator, and replaces an existing one. */
  async upload(path, content, contentType) {
    const address = path.split("/").map(encodeURIComponent).join("/");
    const response = await fetch(`${this.info.supabase_url}/storage/v1/object/kb/${address}`, {
      method: "POST",
      headers: { ...this.administrator(), "content-type": contentType, "x-upsert": "true" },
      body: Buffer.from(content),
    });
    if (!response.ok) throw new Error(`upload of ${path}: ${response.status} ${await response.text()}`);
  }

  /** Deletes files of that bucket. */
  async deleteFiles(...prefixes) {
    const response = await fetch(`${this.info.supabase_url}/storage/v1/object/kb`, {
      method: "DELETE",
      headers: { ...this.administrator(), "content-type": "application/json" },
      body: JSON.stringify({ prefixes }),
    });
    if (!response.ok) throw new Error(`deleting ${prefixes.join(", ")}: ${response.status} ${await response.text()}`);
  }

  /** The environment in which the kb command line uses this demo. */
  kbEnvironment() {
    return { ...process.env, SUPABASE_URL: this.info.supabase_url, SUPABASE_SECRET_KEY: this.#secretKey };
  }

  /** Runs the kb command line against this demo and returns exit code and output. */
  async kb(...args) {
    const child = spawn(/** @type {string} */ (process.env.KB_BINARY), args, {
      env: this.kbEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "",
      stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const [code] = await once(child, "exit");
    return { code, stdout, stderr };
  }
}

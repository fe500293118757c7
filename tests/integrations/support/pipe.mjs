// The Open WebUI pipe in Python.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const DRIVER = fileURLToPath(new URL("run_pipe.py", import.meta.url));

/** A question as Open WebUI sends it. */
export const bodyOf = (/** @type {unknown} */ content, overrides = {}, /** @type {unknown} */ before = "Hello!") => ({
  stream: true,
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: before },
    { role: "assistant", content: "Hi." },
    { role: "user", content },
  ],
  ...overrides,
});

/**
 * Runs the pipe; `run_pipe.py` says what can be asked.
 * @param {Record<string, unknown>} asked
 */
export async function runPipe(asked) {
  const python = process.env.OPEN_WEBUI_PYTHON;
  if (!python) throw new Error("OPEN_WEBUI_PYTHON is not set; run these tests with `cargo xtask test`");
  const child = spawn(python, ["-B", DRIVER], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(asked));
  let output = "";
  let errors = "";
  child.stdout.on("data", (bytes) => (output += bytes));
  child.stderr.on("data", (bytes) => (errors += bytes));
  const [code] = await once(child, "close");
  assert.equal(code, 0, errors);
  const lines = output.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
  const all = (kind) => lines.flatMap((line) => (kind in line ? [line[kind]] : []));
  const events = (type) => all("event").flatMap((event) => (event.type === type ? [event.data] : []));
  return {
    all,
    events,
    kinds: lines.map((line) => line.event?.type ?? Object.keys(line)[0]),
    text: all("out").join(""),
    sources: events("source"),
    statuses: events("status").map(({ description, done, hidden }) => [description, done, hidden]),
  };
}

// What is kept of wrangler's answer about wrangler.toml.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { readWorkerOptions } from "../../local/worker/worker-options.mjs";

const CONFIG = fileURLToPath(new URL("../../wrangler.toml", import.meta.url));
let project, config, cache;

beforeEach(() => {
  project = mkdtempSync(path.join(tmpdir(), "worker-options-"));
  config = path.join(project, "wrangler.toml");
  cache = path.join(project, "cache");
  cpSync(CONFIG, config);
});
afterEach(() => rmSync(project, { recursive: true }));

const read = () => readWorkerOptions(config, cache);
const kept = () => readdirSync(cache).map((name) => path.join(cache, name));
/** Replaces what is kept, to show that it is used. */
function mark() {
  const [file] = kept();
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), isKept: true }));
}

test("the options are asked of wrangler once, and again after a change of the configuration", () => {
  const asked = read();
  assert.equal(asked.bindings.CHAT_RATE_LIMIT, "20");
  assert.deepEqual(Object.keys(asked.durableObjects), ["USER_GATE"]);
  mark();
  assert.deepEqual(read(), { ...JSON.parse(JSON.stringify(asked)), isKept: true });
  writeFileSync(config, readFileSync(config, "utf8").replace('CHAT_RATE_LIMIT = "20"', 'CHAT_RATE_LIMIT = "21"'));
  const changed = read();
  assert.equal(changed.bindings.CHAT_RATE_LIMIT, "21");
  assert.equal(changed.isKept, undefined);
});

test("an answer that is damaged is replaced", () => {
  const asked = JSON.stringify(read());
  for (const content of ["", "{", "null", "{}", "[]"]) {
    writeFileSync(kept()[0], content);
    assert.equal(JSON.stringify(read()), asked, content);
    assert.equal(readFileSync(kept()[0], "utf8"), asked, content);
  }
});

test("an environment that is set for wrangler is not that of the next start", () => {
  process.env.CLOUDFLARE_ENV = "staging";
  try {
    assert.equal(read().bindings.CHAT_ALLOWED_ORIGINS, "https://www.example.com");
  } finally {
    delete process.env.CLOUDFLARE_ENV;
  }
  assert.equal(read().bindings.CHAT_ALLOWED_ORIGINS, "https://www.example.com");
});

test("secrets in files for wrangler reach the Worker and are not kept", () => {
  for (const name of [".dev.vars", ".env"]) {
    const file = path.join(project, name);
    mkdirSync(cache, { recursive: true });
    writeFileSync(file, "CHAT_LLM_KEY=secret\n");
    assert.equal(read().bindings.CHAT_LLM_KEY, "secret", name);
    assert.deepEqual(kept(), []);
    rmSync(file);
  }
});

test("a folder that cannot be written costs only time", () => {
  writeFileSync(cache, "a file");
  assert.equal(read().bindings.CHAT_RATE_LIMIT, "20");
  assert.equal(readFileSync(cache, "utf8"), "a file");
});

// The variables of the Worker have the same names wherever they are listed.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { VARIABLES } from "../../local/worker/worker.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOURCES = path.join(ROOT, "edge-chat/src");

const read = (/** @type {string} */ file) => readFileSync(path.join(ROOT, file), "utf8");
/** The names that the only group of the pattern finds, sorted. */
function namesIn(/** @type {string} */ text, /** @type {RegExp} */ pattern) {
  return [...new Set([...text.matchAll(pattern)].map(([, name]) => name))].sort();
}

const sources = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".rs"));
/** Without the unit tests at the end of a file. */
const code = sources.map((file) => read(path.join("edge-chat/src", file)).split("#[cfg(test)]")[0]).join("");
const known = namesIn(code, /"((?:CHAT|SUPABASE)_[A-Z_]+)"/g);

test("docs/configuration.md lists every variable that the Worker reads, and no others", () => {
  const [, section] = read("docs/configuration.md").split("## Environment of the Worker\n");
  const [ofWorker] = section.split("\n## ");
  assert.deepEqual(namesIn(ofWorker, /^\| `((?:CHAT|SUPABASE)_[A-Z_]+)` \|/gm), known);
});

test("the local Worker passes on every variable that the Worker reads, and no others", () => {
  assert.deepEqual([...VARIABLES].sort(), known);
});

test("wrangler.toml sets no variable that the Worker does not read", () => {
  const set = namesIn(read("wrangler.toml"), /^(?:# )?((?:CHAT|SUPABASE)_[A-Z_]+) = /gm);
  assert.ok(set.length > 0);
  assert.deepEqual(
    set.filter((name) => !known.includes(name)),
    [],
  );
});

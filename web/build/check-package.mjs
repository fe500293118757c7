// Runs before npm packs the package in the current folder: fails unless the tarball gets every file that it needs, and the
// models only through its dependency on the embedder.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Files that the bundles load from their own folder, under names with a hash. */
const LOADED = [
  /^dist\/worker-\w{8}\.js$/,
  /^dist\/embedder_bg-\w{8}\.wasm$/,
  /^dist\/embedder_relaxed_bg-\w{8}\.wasm$/,
];

const { version, exports, dependencies } = JSON.parse(await readFile("package.json", "utf8"));
const exported = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry)));
const needed = [...exported.map((path) => path.replace("./", "")), "dist/integrity.json"];

const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"]);
const packed = new Set(JSON.parse(stdout)[0].files.map(({ path }) => path));
const unmatched = LOADED.filter((pattern) => ![...packed].some((path) => pattern.test(path)));
const missing = [...needed.filter((path) => !packed.has(path)), ...unmatched.map(String)];
if (missing.length > 0) fail(`Missing: ${missing.join(", ")}. Run \`cargo xtask build web\` first.`);
const models = [...packed].filter((path) => path.endsWith(".safetensors.gz"));
if (models.length > 0) fail(`Not for npm: ${models.join(", ")}. The package of the embedder contains the models.`);
const embedder = dependencies?.["@evidence-chat/embedder"];
if (embedder !== version) fail(`The dependency on the embedder must be exactly ${version}, not ${embedder}.`);

function fail(message) {
  console.error(message);
  process.exitCode = 1;
}

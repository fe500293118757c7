// Runs before npm packs the package in the current folder: fails unless `dist/` is complete, so that no release lacks a
// file. The build leaves the model out where `cargo xtask setup` has not fetched it.
import { readFile, readdir } from "node:fs/promises";

/** What the bundles load by name from the folder they are in. */
const LOADED_BY_NAME = [
  "dist/worker.js",
  "dist/embedder_bg.wasm",
  "dist/embedder_relaxed_bg.wasm",
  "dist/all-MiniLM-L6-v2-int8.safetensors",
  "dist/integrity.json",
];

const { exports } = JSON.parse(await readFile("package.json", "utf8"));
const exported = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? entry : Object.values(entry)));
const needed = [...exported.map((path) => path.replace("./", "")), ...LOADED_BY_NAME];
const present = new Set((await readdir(".", { recursive: true })).map((path) => path.replaceAll("\\", "/")));
const missing = needed.filter((path) => !present.has(path));
if (missing.length > 0) {
  console.error(`Missing: ${missing.join(", ")}. Run \`cargo xtask setup\` and \`cargo xtask build web\` first.`);
  process.exitCode = 1;
}

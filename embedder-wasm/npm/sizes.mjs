// Prints the sizes of the files in dist/ that a page downloads, raw and with brotli (quality 11, window 2^24):
// `node sizes.mjs CACHE_FILE`, which keeps the results by SHA-256. The model is already compressed, with gzip. The reader, which a page loads later, is not counted.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const DIST = new URL("dist/", import.meta.url);
const manifest = JSON.parse(await readFile(new URL("package.json", import.meta.url), "utf8"));
const MODEL = basename(manifest.exports["./model"]);
/** Loaded by a page with a worker. In the calling thread it is inline.js, of the same size, instead of worker.js. */
const FILES = ["index.js", "worker.js", MODEL];
/** A page loads one of these: the larger one is counted. */
const ALTERNATIVES = ["embedder_bg.wasm", "embedder_relaxed_bg.wasm"];

const [cacheFile] = process.argv.slice(2);
const known = await readFile(cacheFile, "utf8").then(JSON.parse, () => ({}));

const rows = [];
for (const name of FILES) rows.push(await row(name));
const alternatives = [];
for (const name of ALTERNATIVES) alternatives.push(await row(name));
rows.splice(-1, 0, alternatives.sort((a, b) => b[2] - a[2])[0]);
await writeFile(cacheFile, JSON.stringify(known));
const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
rows.push(["together", sum(1), sum(2)]);

const width = Math.max(...rows.map(([name]) => name.length));
console.log(`${"file".padEnd(width)} ${"bytes".padStart(12)} ${"brotli".padStart(12)}`);
for (const [name, ...sizes] of rows) {
  console.log(name.padEnd(width), ...sizes.map((size) => size.toLocaleString("en").padStart(12)));
}

/** Name, bytes, bytes with brotli. */
async function row(name) {
  const bytes = await readFile(new URL(name, DIST));
  return [name, bytes.length, name === MODEL ? bytes.length : await brotliSize(bytes)];
}

async function brotliSize(bytes) {
  const digest = createHash("sha256").update(bytes).digest("hex");
  known[digest] ??= (
    await promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_LGWIN]: 24,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    })
  ).length;
  return known[digest];
}

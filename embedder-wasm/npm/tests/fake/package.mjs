// The package as build.mjs builds it, but with a fake WebAssembly module and a small model.
import { createHash, getRandomValues } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

export const MODEL_FILE = "all-MiniLM-L6-v2-int8-00000000.safetensors.gz";
const WASM_FILES = ["embedder_bg.wasm", "embedder_relaxed_bg.wasm"];
/** Large enough to arrive in many chunks, and for a second megabyte. */
export const MODEL = randomBytes(2_500_000);
MODEL[0] = 0; // Not the first byte of a gzip file.
export const IDENTITY = {
  file: MODEL_FILE,
  byteLength: MODEL.length,
  downloadBytes: 1_600_000,
  fingerprint: "00112233aabbccdd",
};

export const READER_FILE = "reader-int8-00000000.safetensors.gz";
export const READER = randomBytes(1_200_000);
READER[0] = 0;
export const READER_IDENTITY = {
  file: READER_FILE,
  byteLength: READER.length,
  downloadBytes: 900_000,
  fingerprint: "ddccbbaa33221100",
};

/** Several blocks, the last of them shorter. */
const BLOCK_BYTES = 1_000_000;
const blocksOf = (content) => ({
  blockBytes: BLOCK_BYTES,
  sha256: Array.from({ length: Math.ceil(content.length / BLOCK_BYTES) }, (_, index) =>
    sha256(content.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES)),
  ),
});
/** In place of the SHA-256 that WebAssembly computes. */
const sumOf = (content) => content.reduce((total, byte) => (total + byte) % 65521, content.length);

/** A gzip file of stored blocks, which are all that the fake module reads. */
export const gzip = (bytes) => gzipSync(bytes, { level: 0 });

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const fakeWasm = {
  name: "fake-wasm",
  setup({ onResolve }) {
    onResolve({ filter: /wasm\/embedder\.js$/ }, () => ({ path: here("wasm.mjs") }));
  },
};

/** Everything a page fetches except model and reader, as file name → content. */
export async function buildFakePackage({ version = "1.0.0" } = {}) {
  const { outputFiles } = await build({
    entryPoints: ["index", "worker", "inline"].map((name) => here(`../../src/${name}.ts`)),
    outdir: here("."),
    bundle: true,
    write: false,
    external: ["./inline.js"],
    plugins: [fakeWasm],
    define: {
      MODEL_IDENTITY: JSON.stringify(IDENTITY),
      READER_IDENTITY: JSON.stringify(READER_IDENTITY),
      MODEL_BLOCKS: JSON.stringify(blocksOf(MODEL)),
      READER_BLOCKS: JSON.stringify(blocksOf(READER)),
      MODEL_PATH: JSON.stringify(`./${MODEL_FILE}`),
      READER_PATH: JSON.stringify(`./${READER_FILE}`),
      PACKAGE_VERSION: JSON.stringify(version),
      FAKE: JSON.stringify({
        fingerprint: IDENTITY.fingerprint,
        model: { byteLength: MODEL.length, sum: sumOf(MODEL) },
        reader: { byteLength: READER.length, sum: sumOf(READER) },
      }),
    },
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  });
  const files = new Map(outputFiles.map(({ path, contents }) => [path.slice(here(".").length), Buffer.from(contents)]));
  for (const name of WASM_FILES) files.set(name, Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
  return files;
}

/** Writes the package, model and reader to a folder, which `t` removes, and imports the package in this process. */
export async function importFakePackage(t) {
  const folder = await mkdtemp(join(tmpdir(), "embedder-test-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  const files = await buildFakePackage();
  for (const [name, content] of files) await writeFile(join(folder, name), content);
  await writeFile(join(folder, MODEL_FILE), gzip(MODEL));
  await writeFile(join(folder, READER_FILE), gzip(READER));
  const url = pathToFileURL(`${folder}/`);
  return { url, ...(await import(new URL("index.js", url).href)) };
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

function randomBytes(length) {
  const bytes = Buffer.alloc(length);
  for (let start = 0; start < length; start += 65_536) getRandomValues(bytes.subarray(start, start + 65_536));
  return bytes;
}

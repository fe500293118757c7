// The embedder returns the golden vectors (embedder-wasm/tests/golden.json), bit for bit, in every supported runtime of servers.
// `cargo xtask test browsers` runs this; it installs the runtimes from the npm registry.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const DIST = fileURLToPath(new URL("../../embedder-wasm/npm/dist/", import.meta.url));
const GOLDEN = new URL("../../embedder-wasm/tests/golden.json", import.meta.url);
const LINUX = { skip: process.platform !== "linux" && "platform: the packages of Node.js are for Linux" };
const NODE = `npm:node-linux-${process.arch}`;
const PACKAGES = { node20: `${NODE}@20`, node22: `${NODE}@22`, node24: `${NODE}@24`, deno: "2.9.6", bun: "1.4.5" };

/** Prints each vector as hexadecimal digits. */
const PROGRAM = `
import { readFileSync } from "node:fs";
import { createEmbedder } from "./dist/index.js";
const wasmUrl = process.argv[2] && new URL(process.argv[2], import.meta.url);
const embedder = await createEmbedder({ ...(wasmUrl && { wasmUrl }) });
const vectors = [];
for (const text of JSON.parse(readFileSync(new URL("texts.json", import.meta.url), "utf8"))) {
  const { vector } = await embedder.embed(text);
  vectors.push(Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("hex"));
}
console.log(JSON.stringify({ fingerprint: embedder.fingerprint, vectors }));
process.exit(0);
`;

let folder, golden;

before(async () => {
  if (LINUX.skip) return;
  golden = JSON.parse(await readFile(GOLDEN, "utf8"));
  folder = await mkdtemp(join(tmpdir(), "embedder-runtimes-"));
  await writeFile(
    join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies: PACKAGES }),
  );
  await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts=false"], { cwd: folder });
  await cp(DIST, join(folder, "dist"), { recursive: true });
  await writeFile(join(folder, "texts.json"), JSON.stringify(golden.items.map(({ text }) => text)));
  await writeFile(join(folder, "golden.mjs"), PROGRAM);
});

after(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

for (const { name, program, args } of [
  { name: "Node.js 20", program: "node20/bin/node", args: [] },
  { name: "Node.js 22", program: "node22/bin/node", args: [] },
  { name: "Node.js 24", program: "node24/bin/node", args: [] },
  { name: "Deno", program: ".bin/deno", args: ["run", "--allow-all"] },
  { name: "Bun", program: ".bin/bun", args: [] },
]) {
  for (const wasm of ["", "dist/embedder_bg.wasm"]) {
    test(
      `${name} returns the golden vectors with ${wasm || "the WebAssembly file that it chooses"}`,
      LINUX,
      async () => {
        const command = join(folder, "node_modules", program);
        const { stdout } = await run(command, [...args, "golden.mjs", wasm], { cwd: folder, maxBuffer: 1 << 24 });
        const { fingerprint, vectors } = JSON.parse(stdout);
        assert.equal(fingerprint, golden.fingerprint);
        assert.ok(vectors.length > 0);
        assert.deepEqual(
          vectors,
          golden.items.map(({ vector }) => vector),
        );
      },
    );
  }
}

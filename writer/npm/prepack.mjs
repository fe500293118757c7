// Runs before `npm pack` and `npm publish`: rejects a `dist/` that is missing or stale.
//
// It compares dist/ with src/ and wasm/. Whether wasm/ belongs to the Rust sources only a build can tell, so release with
// scripts/release/packages.sh, which builds everything.
import { readFile } from "node:fs/promises";
import { INPUTS_FILE, inputsDigest } from "./build.mjs";

const problem = await findProblem();
if (problem) {
  console.error(`@evidence-chat/writer cannot be packed: ${problem}`);
  process.exitCode = 1;
}

async function findProblem() {
  const built = await readFile(new URL(`dist/${INPUTS_FILE}`, import.meta.url), "utf8").catch(() => null);
  if (built === null) return "dist/ is missing. Run `cargo xtask build writer`.";
  const current = await inputsDigest().catch(() => null);
  if (current === null) return "wasm/ is missing. Run `cargo xtask build writer`.";
  if (built !== current) {
    return "dist/ is stale: src/, wasm/ or package.json changed after the build. Run `cargo xtask build writer`.";
  }
  return null;
}

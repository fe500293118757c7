// Runs before `npm pack` and `npm publish`: rejects a `dist/` that is missing, incomplete or stale.
//
// It compares dist/ with src/ and wasm/. Whether wasm/ belongs to the Rust sources only a build can tell, so release with
// scripts/release/packages.sh, which builds everything.
import { access, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { INPUTS_FILE, inputsDigest } from "./build.mjs";

const manifest = JSON.parse(await readFile(new URL("package.json", import.meta.url), "utf8"));
/** The build names the files after their hashes. */
const FILES = ["model", "reader"].map((name) => basename(manifest.exports?.[`./${name}`] ?? name));

const inDist = (name) => fileURLToPath(new URL(`dist/${name}`, import.meta.url));

const problem = await findProblem();
if (problem) {
  console.error(`@evidence-chat/embedder cannot be packed: ${problem}`);
  process.exitCode = 1;
}

async function findProblem() {
  const built = await readFile(inDist(INPUTS_FILE), "utf8").catch(() => null);
  if (built === null) return "dist/ is missing. Run `cargo xtask build embedder`.";
  const current = await inputsDigest().catch(() => null);
  if (current === null) return "wasm/ is missing. Run `cargo xtask build embedder`.";
  const modules = ["embedder_bg", "embedder_relaxed_bg"].map((name) => new URL(`wasm/${name}.wasm`, import.meta.url));
  const [plain, relaxed] = await Promise.all(modules.map((url) => readFile(url)));
  if (plain.equals(relaxed)) return "wasm/ has one build twice, as in the demo. Run `cargo xtask build embedder`.";
  if (built !== current) {
    return "dist/ is stale: src/, wasm/ or package.json changed after the build. Run `cargo xtask build embedder`.";
  }
  for (const file of FILES) {
    const isBuilt = await access(inDist(file)).then(
      () => true,
      () => false,
    );
    if (!isBuilt) return `dist/ lacks ${file}. Run \`cargo xtask setup\`, then \`cargo xtask build embedder\`.`;
  }
  return null;
}

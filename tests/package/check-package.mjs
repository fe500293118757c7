// Checks of a packed npm package whose manifest npm and the tools of its users read, and of the script that guards packing.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const ATTW = fileURLToPath(new URL("../../node_modules/@arethetypeswrong/cli/dist/index.js", import.meta.url));
const REPOSITORY = new URL("../../", import.meta.url);

const run = (command, args, cwd) => promisify(execFile)(command, args, { cwd, maxBuffer: 1e7 });

/**
 * Tests a package.
 * @param {string} name without its scope
 * @param {{ path: string, directory: string, entries: string[], files?: string[], models?: string[] }} options `path`: its folder;
 *   `directory`: the same in the repository; `entries`: its exports with types; `files`: what it contains besides `dist/`, the
 *   README and the manifest; `models`: files in `dist/`
 */
export function checkPackage(name, { path: source, directory, entries, files: more = [], models = [] }) {
  let folder, tarball, files, manifest;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), `${name}-manifest-`));
    const args = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder, source];
    const { stdout } = await run("npm", args, folder);
    const [packed] = JSON.parse(stdout);
    tarball = join(folder, basename(packed.filename));
    files = packed.files.map(({ path }) => path);
    await run("tar", ["-xzf", tarball], folder);
    manifest = JSON.parse(await readFile(join(folder, "package/package.json"), "utf8"));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  describe(`the packed @evidence-chat/${name}`, () => {
    test("passes publint without errors, warnings or suggestions", async () => {
      const { messages } = await publint({ pkgDir: join(folder, "package"), pack: false, strict: true });
      assert.deepEqual(
        messages.map((message) => formatMessage(message, manifest)),
        [],
      );
    });

    test("passes are-the-types-wrong as an ESM-only package", async () => {
      const args = [ATTW, tarball, "--profile", "esm-only", "--format", "json", "--entrypoints", ...entries];
      // Exits with 1 on a problem that the profile does not exclude.
      const { stdout } = await run(process.execPath, args, folder);
      const { analysis } = JSON.parse(stdout);
      assert.ok(analysis.types);
      assert.deepEqual(Object.keys(analysis.entrypoints), entries);
    });

    test("names its licence, its place in the repository, its Node.js versions and how it is published", () => {
      assert.equal(manifest.license, "MIT OR Apache-2.0");
      assert.equal(manifest.repository.directory, directory);
      assert.match(manifest.repository.url, /^git\+https:\/\/.+\.git$/);
      assert.match(manifest.engines.node, /^>=\d+\.\d+$/);
      assert.deepEqual(manifest.publishConfig, { access: "public", provenance: true });
    });

    test("contains the licence texts of the repository", async () => {
      for (const name of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) {
        const packed = await readFile(join(folder, "package/dist", name), "utf8");
        assert.equal(packed, await readFile(new URL(name, REPOSITORY), "utf8"));
      }
    });

    test("contains the licences of the crates in its WebAssembly files, with their texts", async () => {
      const text = await readFile(join(folder, "package/dist/THIRD-PARTY.md"), "utf8");
      for (const crate of ["serde_json", "wasm-bindgen"]) {
        assert.match(text, new RegExp(`^- ${crate} \\S+: MIT OR Apache-2.0, <https://`, "m"));
        assert.match(text, new RegExp(`^## .*\\b${crate} `, "m"));
      }
    });

    test("contains nothing but what it needs", () => {
      const expected = ["README.md", "package.json", ...more];
      const isExpected = (path) => path.startsWith("dist/") || expected.includes(path);
      assert.deepEqual(
        files.filter((path) => !isExpected(path)),
        [],
      );
      assert.ok(!files.includes("dist/.inputs"));
      assert.deepEqual(
        files.filter((path) => /\.(safetensors|gguf)(\.gz)?$/.test(path)).sort(),
        models.map((file) => `dist/${file}`),
      );
    });
  });

  describe(`the prepack script of @evidence-chat/${name}`, () => {
    /** Copies what prepack reads, lets `change` damage it, and returns the exit code and the message. */
    async function prepackAfter(t, change) {
      const copy = await mkdtemp(join(tmpdir(), `${name}-prepack-`));
      t.after(() => rm(copy, { recursive: true, force: true }));
      const parts = ["build.mjs", "package.json", "prepack.mjs", "src", "tsconfig.json", "wasm"];
      if (name === "embedder") parts.push("model-blocks.json");
      for (const part of parts) {
        await cp(join(source, part), join(copy, part), { recursive: true });
      }
      await mkdir(join(copy, "dist"));
      await cp(join(source, "dist/.inputs"), join(copy, "dist/.inputs"));
      // The prepack script checks only that they exist: the build has verified them.
      for (const file of models) await writeFile(join(copy, "dist", file), "");
      // build.mjs imports esbuild and resolves TypeScript.
      await cp(fileURLToPath(new URL("node_modules/esbuild", REPOSITORY)), join(copy, "node_modules/esbuild"), {
        recursive: true,
      });
      await mkdir(join(copy, "node_modules/typescript/bin"), { recursive: true });
      await writeFile(join(copy, "node_modules/typescript/bin/tsc"), "");
      await change(copy);
      const { code, stderr } = await run(process.execPath, ["prepack.mjs"], copy).then(
        () => ({ code: 0, stderr: "" }),
        (error) => error,
      );
      return { code, message: stderr };
    }

    test("accepts a complete and current dist/", async (t) => {
      assert.deepEqual(await prepackAfter(t, () => undefined), { code: 0, message: "" });
    });

    /** @type {[string, (copy: string) => Promise<void>, RegExp][]} */
    const stale = [
      [
        "a missing dist/",
        (copy) => rm(join(copy, "dist"), { recursive: true }),
        /dist\/ is missing\. Run `cargo xtask/,
      ],
      ["a dist/ older than a source", (copy) => writeFile(join(copy, "src/index.ts"), "export {};"), /dist\/ is stale/],
      ["a dist/ of another version", (copy) => writeFile(join(copy, "package.json"), "{}"), /dist\/ is stale/],
      ["a missing wasm/", (copy) => rm(join(copy, "wasm"), { recursive: true }), /wasm\/ is missing/],
    ];
    for (const file of models)
      stale.push([
        `a dist/ without ${file}`,
        (copy) => rm(join(copy, "dist", file)),
        new RegExp(`dist/ lacks ${file}`),
      ]);
    if (name === "embedder")
      stale.push([
        "the demo's build, which has one module twice",
        (copy) => cp(join(copy, "wasm/embedder_bg.wasm"), join(copy, "wasm/embedder_relaxed_bg.wasm")),
        /one build twice.*Run `cargo xtask build embedder`/,
      ]);
    for (const [fault, change, message] of stale) {
      test(`rejects ${fault} and says what to run`, async (t) => {
        const outcome = await prepackAfter(t, change);
        assert.equal(outcome.code, 1);
        assert.match(outcome.message, message);
      });
    }
  });
}

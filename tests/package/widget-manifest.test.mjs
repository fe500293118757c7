// The widget's package.json and files, checked on the packed tarball as publish tools and registries see it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { createConsumer, WIDGET } from "./consumer.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGE = "node_modules/@evidence-chat/widget";
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const CHECK = join(WIDGET, "build/check-package.mjs");
const LICENCES = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/** What `attw` reports for every package that has ES modules only. */
const ESM_ONLY = new Set(["CJSResolvesToESM", "NoResolution"]);

let consumer, tarball, manifest;

before(async () => {
  consumer = await createConsumer([WIDGET]);
  const names = await readdir(consumer.path("."));
  tarball = await readFile(consumer.path(names.find((name) => /widget-.*\.tgz$/.test(name))));
  manifest = JSON.parse(await readFile(consumer.path(PACKAGE, "package.json"), "utf8"));
});

after(() => consumer?.remove());

describe("the widget's package", () => {
  test("publint finds nothing in the widget's tarball", async () => {
    const buffer = tarball.buffer.slice(tarball.byteOffset, tarball.byteOffset + tarball.byteLength);
    const { messages } = await publint({ pack: { tarball: buffer }, level: "suggestion" });
    assert.deepEqual(messages, []);
  });

  test("attw finds no wrong types in the widget's tarball", async () => {
    const result = await checkPackage(createPackageFromTarballData(tarball));
    assert.ok(result.types && result.types.kind === "included", "the package includes types");
    const { problems } = /** @type {import("@arethetypeswrong/core").Analysis} */ (result);
    const found = problems.filter((problem) => {
      const isJson = "entrypoint" in problem && problem.entrypoint.endsWith(".json");
      return !ESM_ONLY.has(problem.kind) && !isJson;
    });
    assert.deepEqual(found, []);
  });

  test("the widget's tarball has the licence texts of the repository", async () => {
    for (const name of LICENCES) {
      const packed = await readFile(consumer.path(PACKAGE, name), "utf8");
      assert.equal(packed, await readFile(join(ROOT, name), "utf8"), name);
    }
    const thirdParty = await readFile(consumer.path(PACKAGE, "THIRD-PARTY.md"), "utf8");
    for (const text of ["UNICODE LICENSE V3", "Permission is hereby granted", "LICENSE-APACHE"]) {
      assert.ok(thirdParty.includes(text), text);
    }
  });

  test("the widget's manifest has what a publication with provenance needs", () => {
    assert.deepEqual(manifest.publishConfig, { access: "public", provenance: true });
    assert.equal(manifest.repository.directory, "web");
    assert.match(manifest.repository.url, /^git\+https:/);
    assert.ok(manifest.engines.node && manifest.homepage && manifest.bugs && manifest.keywords.length > 0);
  });

  test("the widget installs and type-checks without @evidence-chat/embedder", async () => {
    assert.equal(manifest.dependencies, undefined);
    assert.deepEqual(await readdir(consumer.path("node_modules/@evidence-chat")), ["widget"]);
    await consumer.write("types", {
      "main.ts": `
        import type { EmbedderFactory, QuestionEmbedder } from "@evidence-chat/widget";
        export const factory: EmbedderFactory = async ({ onProgress, signal }) => {
          onProgress?.({ phase: "download", loadedBytes: 1, totalBytes: 2 });
          signal?.throwIfAborted();
          return {} as QuestionEmbedder;
        };
        // @ts-expect-error a factory must give an embedder
        export const wrong: EmbedderFactory = async () => "embedder";`,
    });
    await consumer.node(
      TSC,
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "false",
      "--module",
      "nodenext",
      "types/main.ts",
    );
  });

  test("custom-elements.json is exported by the widget's package", async () => {
    await consumer.write(".", {
      "elements.mjs": `import manifest from "@evidence-chat/widget/custom-elements.json" with { type: "json" };
        console.log(manifest.schemaVersion);`,
    });
    assert.equal((await consumer.node("elements.mjs")).trim(), "1.0.0");
  });
});

describe("the widget's entries in plain Node", () => {
  for (const [entry, expected] of [
    ["", "EvidenceChatElement"],
    ["/define", "EvidenceChatElement"],
    ["/client", "streamChat"],
  ]) {
    test(`@evidence-chat/widget${entry} can be imported without a DOM`, async () => {
      const name = `import${entry.replace("/", "-")}.mjs`;
      await consumer.write(".", {
        [name]: `import * as all from "@evidence-chat/widget${entry}"; console.log(typeof all.${expected});`,
      });
      assert.equal((await consumer.node(name)).trim(), "function");
    });
  }
});

describe("the guard before packing", () => {
  const run = (cwd) => promisify(execFile)(process.execPath, [CHECK], { cwd });

  test("the guard before packing accepts a complete build", async () => {
    await run(consumer.path(PACKAGE));
  });

  test("the guard before packing names every missing file", async () => {
    const folder = await mkdtemp(join(tmpdir(), "evidence-chat-pack-"));
    try {
      await mkdir(join(folder, "dist"));
      await writeFile(join(folder, "dist/index.js"), "");
      await writeFile(join(folder, "package.json"), JSON.stringify({ exports: { ".": "./dist/index.js" } }));
      await assert.rejects(run(folder), ({ code, stderr }) => {
        assert.equal(code, 1);
        assert.match(stderr, /dist\/all-MiniLM-L6-v2-int8\.safetensors/);
        assert.doesNotMatch(stderr, /dist\/index\.js/);
        return true;
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

// The widget's package.json and files, checked on the packed tarball as publish tools and registries see it.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { integrityOf } from "../../web/build/integrity.mjs";
import { MODEL_FILE, READER_FILE } from "../lib/model-file.mjs";
import { createConsumer, EMBEDDER, WIDGET } from "./consumer.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PACKAGE = "node_modules/@evidence-chat/widget";
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const CHECK = join(WIDGET, "build/check-package.mjs");
const LICENCES = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/** What `attw` reports for every package that has ES modules only. */
const ESM_ONLY = new Set(["CJSResolvesToESM", "NoResolution"]);

let consumer, tarball, manifest;

before(async () => {
  consumer = await createConsumer([EMBEDDER, WIDGET]);
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

  test("the widget depends on the embedder of exactly its version, and on nothing else", () => {
    assert.deepEqual(manifest.dependencies, { "@evidence-chat/embedder": manifest.version });
  });

  test("only the embedder's tarball contains model and reader", async () => {
    const installed = await readdir(consumer.path("node_modules"), { recursive: true });
    assert.deepEqual(
      installed.filter((path) => path.endsWith(".safetensors.gz")).sort(),
      [MODEL_FILE, READER_FILE].map((file) => `@evidence-chat/embedder/dist/${file}`),
    );
  });

  test("integrity.json has the hash of each file in the widget's dist/, of model, reader and writer", async () => {
    const { files } = JSON.parse(await readFile(consumer.path(PACKAGE, "dist/integrity.json"), "utf8"));
    const entries = await readdir(consumer.path(PACKAGE, "dist"), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && entry.name !== "integrity.json").map(({ name }) => name);
    // A site that hosts its own copy has the writer in a folder beside the widget.
    const writer = Object.keys(files).filter((name) => name.startsWith("writer/"));
    assert.deepEqual(Object.keys(files).sort(), [...names, MODEL_FILE, READER_FILE, ...writer].sort());
    assert.ok(writer.includes("writer/index.js") && writer.includes("writer/wllama.wasm"), writer.join());
    for (const name of writer) {
      const file = new URL(`../../writer/npm/dist/${name.slice("writer/".length)}`, import.meta.url);
      assert.equal(files[name], integrityOf(await readFile(file)), name);
    }
    for (const name of [MODEL_FILE, READER_FILE]) {
      const content = await readFile(consumer.path("node_modules/@evidence-chat/embedder/dist", name));
      assert.equal(files[name], integrityOf(content));
    }
  });

  test("the widget's types check together with those of its dependency", async () => {
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
  /** Checks a copy of the installed widget that `change` has damaged, and returns the exit code and the message. */
  async function checkAfter(t, change) {
    const folder = await mkdtemp(join(tmpdir(), "evidence-chat-pack-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await cp(consumer.path(PACKAGE), folder, { recursive: true });
    await change(folder);
    const { code, stderr } = await promisify(execFile)(process.execPath, [CHECK], { cwd: folder }).then(
      () => ({ code: 0, stderr: "" }),
      (error) => error,
    );
    return { code, message: stderr };
  }

  async function editManifest(folder, change) {
    const path = join(folder, "package.json");
    const edited = JSON.parse(await readFile(path, "utf8"));
    change(edited);
    await writeFile(path, JSON.stringify(edited));
  }

  test("the guard before packing accepts a complete build with the model next to it", async (t) => {
    const outcome = await checkAfter(t, (folder) => writeFile(join(folder, "dist", MODEL_FILE), ""));
    assert.deepEqual(outcome, { code: 0, message: "" });
  });

  /** @type {[name: string, change: (folder: string) => Promise<void>, message: RegExp][]} */
  const damages = [
    [
      "names every missing file",
      async (folder) => {
        const built = await readdir(join(folder, "dist"));
        const removed = built.filter((name) => /^(client|worker-\w+)\.js$|^embedder_bg-/.test(name));
        assert.equal(removed.length, 3, removed.join());
        for (const name of removed) await rm(join(folder, "dist", name));
      },
      /^Missing: dist\/client\.js, .*worker-.*, .*embedder_bg-.*\. Run/,
    ],
    [
      "rejects a file that is built but not packed",
      (folder) => editManifest(folder, ({ files }) => files.push("!dist/worker-*.js")),
      /^Missing: .*worker-.*\. Run/,
    ],
    [
      "rejects a model that would be packed",
      async (folder) => {
        await writeFile(join(folder, "dist", MODEL_FILE), "");
        await editManifest(folder, ({ files }) => files.splice(files.indexOf("!dist/*.safetensors.gz"), 1));
      },
      /^Not for npm: dist\/all-MiniLM-L6-v2-int8-\w{8}\.safetensors\.gz\./,
    ],
    [
      "rejects a dependency on a range of the embedder's versions",
      (folder) =>
        editManifest(folder, ({ version, dependencies }) => (dependencies["@evidence-chat/embedder"] = `^${version}`)),
      /^The dependency on the embedder must be exactly \d[\w.-]+, not \^\d/,
    ],
    [
      "rejects a missing dependency on the embedder",
      (folder) => editManifest(folder, (manifest) => delete manifest.dependencies),
      /^The dependency on the embedder must be exactly \d[\w.-]+, not undefined/,
    ],
  ];
  for (const [name, damage, message] of damages) {
    test(`the guard before packing ${name}`, async (t) => {
      const outcome = await checkAfter(t, damage);
      assert.equal(outcome.code, 1);
      assert.match(outcome.message, message);
    });
  }
});

// The SBOMs of the products, compared with what cargo and the bundles report independently.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { temporaryFolder } from "../lib/demo.mjs";
import { MODEL_FILE } from "../lib/model-file.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = async (program, args) => {
  const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, maxBuffer: 2 ** 26 });
  return stdout;
};

const WASM = ["wasm32-unknown-unknown"];
/** The targets that `kb` is released for. */
const workflow = await readFile(join(ROOT, ".github/workflows/release.yml"), "utf8");
const NATIVE = Array.from(workflow.matchAll(/- \{ target: ([\w-]+),/g), ([, target]) => target);
const PRODUCTS = {
  embedder: { packages: ["embedder"], targets: WASM },
  writer: { packages: ["verifier"], targets: WASM },
  widget: { packages: ["embedder"], targets: WASM },
  worker: { packages: ["edge-chat"], targets: WASM },
  kb: { packages: ["kb"], targets: NATIVE },
};

let texts, again;

before(async (t) => {
  texts = await write(t);
  again = await write(t);
});

async function write(t) {
  const folder = await temporaryFolder(t);
  await run(process.env.XTASK_BINARY, ["sbom", "--out", folder]);
  const names = await readdir(folder);
  const read = async (name) => [name, await readFile(join(folder, name), "utf8")];
  return Object.fromEntries(await Promise.all(names.sort().map(read)));
}

/** `name@version` of each component of that kind. */
function listed(document, registry) {
  const own = ({ purl }) => purl.startsWith("pkg:generic/evidence-chat/");
  return [document.metadata.component, ...document.components]
    .filter((component) => component.purl.startsWith(`pkg:${registry}/`) || (registry === "cargo" && own(component)))
    .map(({ name, version }) => `${name}@${version}`)
    .sort();
}

async function cratesOf(names, target) {
  const options = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--target", target];
  const packages = names.flatMap((name) => ["--package", name]);
  const tree = await run("cargo", ["tree", "--locked", "--quiet", ...packages, ...options]);
  return tree.split("\n").flatMap((line) => (line ? line.replace(/^(\S+) v(\S+).*/, "$1@$2") : []));
}

test("the release workflow builds kb for Linux, macOS and Windows", () => {
  for (const system of ["linux", "darwin", "windows"]) {
    assert.ok(
      NATIVE.some((target) => target.includes(system)),
      system,
    );
  }
});

test("the SBOMs cover every product and are reproducible", () => {
  assert.deepEqual(
    Object.keys(texts),
    Object.keys(PRODUCTS)
      .map((name) => `${name}.cdx.json`)
      .sort(),
  );
  assert.deepEqual(again, texts);
});

for (const [product, { packages, targets }] of Object.entries(PRODUCTS)) {
  describe(product, () => {
    const text = () => texts[`${product}.cdx.json`];
    const document = () => JSON.parse(text());

    test("is a CycloneDX document whose components have all required fields", () => {
      const { bomFormat, specVersion, version, metadata, components } = document();
      assert.deepEqual([bomFormat, specVersion, version], ["CycloneDX", "1.6", 1]);
      assert.ok(components.length > 30);
      for (const component of [metadata.component, ...components]) {
        for (const field of ["type", "bom-ref", "name", "version", "purl"]) assert.ok(component[field], field);
        assert.ok(component.licenses[0].expression, component.name);
      }
      const references = new Set([metadata.component, ...components].map((component) => component["bom-ref"]));
      assert.equal(references.size, components.length + 1, "a reference is there twice");
    });

    test("lists every crate that it contains, and no other", async () => {
      const trees = await Promise.all(targets.map((target) => cratesOf(packages, target)));
      assert.deepEqual(listed(document(), "cargo"), [...new Set(trees.flat())].sort());
    });

    test("contains no path of the build machine", () => {
      for (const folder of [ROOT.slice(0, -1), homedir(), "file:"]) assert.ok(!text().includes(folder), folder);
    });
  });
}

test("the SBOMs of the embedder and kb list the model with the hash of its file, and no other SBOM lists it", async () => {
  const file = gunzipSync(await readFile(join(ROOT, "embedder-wasm/npm/dist", MODEL_FILE)));
  const content = createHash("sha256").update(file).digest("hex");
  const models = (product) => {
    const { components } = JSON.parse(texts[`${product}.cdx.json`]);
    return components.filter(({ type }) => type === "machine-learning-model");
  };
  for (const product of ["embedder", "kb"]) {
    assert.deepEqual(
      models(product).map(({ hashes }) => hashes),
      [[{ alg: "SHA-256", content }]],
      product,
    );
  }
  for (const product of ["writer", "widget", "worker"]) assert.deepEqual(models(product), [], product);
});

for (const [product, folder, known] of /** @type {[string, string, string[]][]} */ ([
  ["widget", "web/dist", []],
  ["writer", "writer/npm/dist", ["@wllama/wllama"]],
])) {
  test(`the SBOM of the ${product} lists the npm packages in its bundles, and no build or test tool`, async () => {
    const dist = join(ROOT, folder);
    const maps = (await readdir(dist)).filter((name) => name.endsWith(".js.map"));
    const read = async (name) => JSON.parse(await readFile(join(dist, name), "utf8")).sources;
    const sources = (await Promise.all(maps.map(read))).flat();
    const bundled = sources.flatMap((source) => source.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? []);
    const names = listed(JSON.parse(texts[`${product}.cdx.json`]), "npm")
      .map((id) => id.slice(0, id.lastIndexOf("@")))
      .sort();
    for (const name of known) assert.ok(bundled.includes(name));
    const expected = new Set([...bundled, `@evidence-chat/${product}`]);
    assert.deepEqual(names, [...expected].sort());
  });
}

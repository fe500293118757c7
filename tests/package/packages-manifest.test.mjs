// The manifests and contents of the packages in `packages/`, as npm and the tools of their users see them.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { pack } from "../../packages/build/pack.mjs";
import { PACKAGES } from "../../packages/build/stage.mjs";
import { packageOf, PLATFORMS } from "../../packages/evidence-chat/src/kb/platforms.mjs";

const REPOSITORY = new URL("../../", import.meta.url);
const NAMES = [...PLATFORMS.map(({ key }) => packageOf(key)), ...Object.keys(PACKAGES)];
const run = promisify(execFile);
const { version } = JSON.parse(await readFile(new URL("web/package.json", REPOSITORY), "utf8"));

let folder;
const packages = {};

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "packages-manifest-"));
  const program = join(folder, "program");
  await writeFile(program, "not a program");
  const kb = Object.fromEntries(PLATFORMS.map(({ target }) => [target, program]));
  for (const tarball of await pack(join(folder, "tarballs"), { kb })) {
    const target = await mkdtemp(join(folder, "package-"));
    await run("tar", ["-xzf", tarball, "-C", target]);
    const path = join(target, "package");
    const manifest = JSON.parse(await readFile(join(path, "package.json"), "utf8"));
    packages[manifest.name] = { path, manifest, tarball, files: await list(path) };
  }
});

after(() => rm(folder, { recursive: true, force: true }));

async function list(path) {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => file.slice(path.length + 1));
}

test("every package is packed once", () => {
  assert.deepEqual(Object.keys(packages).sort(), [...NAMES].sort());
});

for (const name of NAMES) {
  describe(`the packed ${name}`, () => {
    test("passes publint without errors, warnings or suggestions", async () => {
      const { path, manifest } = packages[name];
      const { messages } = await publint({ pkgDir: path, pack: false, strict: true });
      assert.deepEqual(
        messages.map((message) => formatMessage(message, manifest)),
        [],
      );
    });

    test("names version, licence, place in the repository, Node.js versions and how it is published", () => {
      const { manifest } = packages[name];
      assert.equal(manifest.version, version);
      assert.equal(manifest.license, "MIT OR Apache-2.0");
      assert.match(manifest.repository.directory, /^packages\//);
      assert.match(manifest.engines.node, /^>=\d+\.\d+$/);
      assert.deepEqual(manifest.publishConfig, { access: "public", provenance: true });
    });

    test("contains the licence texts, a README and no model", async () => {
      const { path, files } = packages[name];
      for (const license of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"]) {
        assert.equal(await readFile(join(path, license), "utf8"), await readFile(new URL(license, REPOSITORY), "utf8"));
      }
      assert.match(await readFile(join(path, "README.md"), "utf8"), /^# /);
      assert.deepEqual(
        files.filter((file) => /\.(safetensors(\.gz)?|gguf|map)$|\.test\.|(^|\/)\.(?!gitignore)/.test(file)),
        [],
      );
    });

    test("depends on exact versions, of packages of this release on its own", () => {
      const { manifest } = packages[name];
      const wanted = { ...manifest.dependencies, ...manifest.optionalDependencies };
      for (const [dependency, found] of Object.entries(wanted)) {
        if (/^(@evidence-chat\/|evidence-chat$)/.test(dependency)) assert.equal(found, version, dependency);
        else assert.match(String(found), /^\d+\.\d+\.\d+(-[\w.]+)?$/, dependency);
      }
    });
  });
}

test("evidence-chat has the package of every platform as an optional dependency", () => {
  const { manifest } = packages["evidence-chat"];
  assert.deepEqual(
    manifest.optionalDependencies,
    Object.fromEntries(PLATFORMS.map(({ key }) => [packageOf(key), version])),
  );
});

test("evidence-chat installs neither wrangler nor what only the demo needs", () => {
  const { manifest } = packages["evidence-chat"];
  assert.deepEqual(Object.keys(manifest.dependencies), ["@evidence-chat/embedder"]);
  assert.ok(!("peerDependencies" in manifest));
});

test("packages with compiled crates contain the licence texts of all of them", async () => {
  for (const name of ["evidence-chat", ...PLATFORMS.map(({ key }) => packageOf(key))]) {
    const text = await readFile(join(packages[name].path, "THIRD-PARTY.md"), "utf8");
    const crates = [...text.matchAll(/^- (\S+ \S+): (.+)$/gm)];
    assert.ok(crates.length > 100, `${name}: ${crates.length} crates`);
    const titles = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title).join(", ");
    const withoutText = crates.filter(([, crate]) => !titles.includes(`${crate} (`));
    // Their authors publish none; the list has licence and address.
    assert.ok(withoutText.length < 8, withoutText.join("\n"));
    for (const [line] of withoutText) assert.match(line, /: .+, <https:\/\/.+>$/);
    assert.doesNotMatch(text, /^- (kb|embedder|chat-core|proptest) /m);
  }
});

test("the licences of everything in the demo page and in the writer are packed with them", async () => {
  const { path } = packages["evidence-chat"];
  const demo = await readFile(join(path, "dist/web/dist/demo/THIRD-PARTY.md"), "utf8");
  assert.match(demo, /^## @supabase\/supabase-js - \d\S+ \(MIT\)\n\nMIT License\n[^]*?Permission is hereby granted/m);
  const writer = await readFile(join(path, "dist/edge-chat/assets/writer/THIRD-PARTY.md"), "utf8");
  for (const library of [/^\| @wllama\/wllama /m, /^- serde_json \S+: MIT OR Apache-2.0/m, /^## .*serde_json /m])
    assert.match(writer, library);
});

test("npm installs the package of a platform only there", () => {
  for (const { key, os, cpu, libc, program } of PLATFORMS) {
    const { manifest, files } = packages[packageOf(key)];
    assert.deepEqual([manifest.os, manifest.cpu, manifest.libc], [[os], [cpu], libc && [libc]]);
    assert.ok(files.includes(program));
  }
});

test("evidence-chat imports only files that it has and packages that it or its servers depend on", async () => {
  const { path, manifest, files } = packages["evidence-chat"];
  const servers = JSON.parse(await readFile(join(path, "dist/local/package.json"), "utf8"));
  const missing = [];
  for (const file of files.filter((name) => name.endsWith(".mjs"))) {
    const text = await readFile(join(path, file), "utf8");
    for (const [, specifier] of text.matchAll(/(?:from|import\()\s*"([^"]+)"/g)) {
      // The local Worker loads it next to the built one.
      if (file.endsWith("/own-host-worker.mjs") && specifier === "./index.js") continue;
      if (specifier.startsWith(".")) assert.ok(files.includes(join(dirname(file), specifier)), `${file}: ${specifier}`);
      else if (!specifier.startsWith("node:")) {
        const { dependencies } = file.startsWith("dist/") ? servers : manifest;
        if (!(/^(@[^/]+\/)?[^/]+/.exec(specifier)[0] in dependencies)) missing.push(`${file}: ${specifier}`);
      }
    }
  }
  assert.deepEqual(missing, []);
});

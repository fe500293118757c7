// The scripts of a release that run without publishing anything.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";

const SCRIPTS = fileURLToPath(new URL("../../scripts/release/", import.meta.url));
const { version } = JSON.parse(await readFile(new URL("../../web/package.json", import.meta.url), "utf8"));

let folder;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "release-"));
});
after(() => rm(folder, { recursive: true }));

const checkVersion = (...args) => run(process.execPath, [`${SCRIPTS}check-version.mjs`, ...args]);

function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe("check-version.mjs", () => {
  test("check-version.mjs accepts the tag that manifests and changelog name", () => {
    const { status, stdout, stderr } = checkVersion(`v${version}`, "--dry-run");
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), version);
  });

  test("check-version.mjs writes the changelog's section with absolute links as release notes", async () => {
    const notes = join(folder, "notes.md");
    checkVersion(`v${version}`, "--dry-run", "--notes", notes);
    const text = await readFile(notes, "utf8");
    assert.match(text, /\S/);
    assert.doesNotMatch(text, /^## |\]\((?!https:)/m);
  });

  test("check-version.mjs rejects a version that the manifests do not have", () => {
    const { status, stderr } = checkVersion("v99.0.0", "--dry-run");
    assert.equal(status, 1);
    for (const manifest of [
      "Cargo.toml",
      "embedder-wasm/npm/package.json",
      "writer/npm/package.json",
      "web/package.json",
      "action.yml",
      "docs/admin.md, its action",
      "docs/admin.md, its image",
      "docs/openapi.yaml",
      "examples/next/package.json, its widget",
      "packages/evidence-chat/package.json",
      "packages/evidence-chat/package.json, its @evidence-chat/embedder",
      "packages/mcp/package.json",
      "integrations/docusaurus/package.json",
      "integrations/starlight/package.json, its @evidence-chat/widget",
      "integrations/vitepress/package.json",
      "integrations/wordpress/evidence-chat.php",
    ]) {
      assert.match(stderr, new RegExp(`${manifest} has ${version}, the tag 99\\.0\\.0`));
    }
  });

  test("check-version.mjs rejects a tag without the letter v", () => {
    assert.equal(checkVersion(version).status, 1);
  });
});

describe("npm.sh", () => {
  test("npm.sh publishes nothing if a package is missing", async (t) => {
    const empty = await mkdtemp(join(tmpdir(), "no-packages-"));
    t.after(() => rm(empty, { recursive: true }));
    const { status, stdout, stderr } = run("bash", [`${SCRIPTS}npm.sh`, empty, "--dry-run"]);
    assert.equal(status, 1);
    assert.match(stderr, /evidence-chat-embedder-[\d.]+\.tgz is missing/);
    assert.equal(stdout, "");
  });

  test("npm.sh publishes each package after those that it depends on", async () => {
    const { stdout } = run(process.execPath, [`${SCRIPTS}../../packages/build/names.mjs`]);
    const names = stdout.trim().split("\n");
    assert.equal(new Set(names).size, names.length);
    const comesBefore = (first, second) =>
      assert.ok(names.indexOf(first) < names.indexOf(second), `${first}, ${second}`);
    for (const [second, path] of Object.entries({
      "@evidence-chat/widget": "web",
      "@evidence-chat/mcp": "packages/mcp",
      "evidence-chat": "packages/evidence-chat",
    })) {
      const manifest = JSON.parse(await readFile(new URL(`../../${path}/package.json`, import.meta.url), "utf8"));
      assert.equal(manifest.name, second);
      for (const first of Object.keys(manifest.dependencies)) if (names.includes(first)) comesBefore(first, second);
    }
    comesBefore("@evidence-chat/kb-linux-x64", "evidence-chat");
    comesBefore("@evidence-chat/kb-win32-x64", "evidence-chat");
  });
});

describe("checksums.sh", () => {
  test("checksums.sh names every file with its SHA-256", async () => {
    await writeFile(join(folder, "empty"), "");
    const { status, stderr } = run("bash", [`${SCRIPTS}checksums.sh`, folder]);
    assert.equal(status, 0, stderr);
    const sums = await readFile(join(folder, "SHA256SUMS"), "utf8");
    assert.match(sums, /^e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 {2}empty$/m);
  });

  test("checksums.sh fails for a folder without files", async () => {
    const empty = await mkdtemp(join(folder, "none-"));
    assert.equal(run("bash", [`${SCRIPTS}checksums.sh`, empty]).status, 1);
  });
});

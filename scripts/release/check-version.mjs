// Checks that a tag, the manifests and the changelog name the same version:
//   node scripts/release/check-version.mjs v0.1.0 [--notes FILE] [--dry-run]
// --notes writes the changelog's section. --dry-run accepts a section without a date.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";

const REPOSITORY = "https://github.com/evidence-chat/evidence-chat";
const ROOT = new URL("../../", import.meta.url);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { notes: { type: "string" }, "dry-run": { type: "boolean", default: false } },
});
const [tag = ""] = positionals;
const version = /^v(\d+\.\d+\.\d+(?:-[0-9a-z.]+)?)$/.exec(tag)?.[1];
if (!version) fail(`"${tag}" is not a tag such as v1.2.3`);

const text = (path) => readFile(new URL(path, ROOT), "utf8");
const json = async (path) => JSON.parse(await text(path));

const widget = await json("web/package.json");
const programs = [
  ...["evidence-chat", "mcp"].map((name) => `packages/${name}/package.json`),
  ...["docusaurus", "starlight", "vitepress"].map((name) => `integrations/${name}/package.json`),
];
/** @type {Record<string, string | undefined>} */
const found = {
  "Cargo.toml": /\[workspace\.package\]\nversion = "(.+)"/.exec(await text("Cargo.toml"))?.[1],
  "embedder-wasm/npm/package.json": (await json("embedder-wasm/npm/package.json")).version,
  "writer/npm/package.json": (await json("writer/npm/package.json")).version,
  "web/package.json": widget.version,
  "action.yml": /^ {2}version:\n.*\n {4}default: "(.+)"$/m.exec(await text("action.yml"))?.[1],
  "docs/admin.md, its action": / evidence-chat\/evidence-chat@v(\S+)$/m.exec(await text("docs/admin.md"))?.[1],
  "docs/admin.md, its image": /\/evidence-chat\/kb:(\S+) /.exec(await text("docs/admin.md"))?.[1],
  "integrations/wordpress/evidence-chat.php": /^ \* Version: (.+)$/m.exec(
    await text("integrations/wordpress/evidence-chat.php"),
  )?.[1],
  "docs/openapi.yaml": /^ {2}version: (.+)$/m.exec(await text("docs/openapi.yaml"))?.[1],
  "web/package.json, its embedder": widget.dependencies["@evidence-chat/embedder"],
};
for (const path of programs) {
  const { version: own, dependencies = {} } = await json(path);
  found[path] = own;
  for (const [name, other] of Object.entries(dependencies)) {
    if (name.startsWith("@evidence-chat/")) found[`${path}, its ${name}`] = other;
  }
}
for (const { name } of (await readdir(new URL("examples", ROOT), { withFileTypes: true })).filter((entry) =>
  entry.isDirectory(),
)) {
  const path = `examples/${name}/package.json`;
  found[`${path}, its widget`] = (await json(path)).dependencies["@evidence-chat/widget"];
}
const wrong = Object.entries(found).filter(([, other]) => other !== version);
if (wrong.length > 0) fail(wrong.map(([where, other]) => `${where} has ${other}, the tag ${version}`).join("\n"));

const { date, notes } = section(await text("CHANGELOG.md"));
if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) {
  const message = `CHANGELOG.md gives ${version} no date, but "${date}"`;
  if (!values["dry-run"]) fail(message);
  console.warn(`warning: ${message}`);
}
if (values.notes) await writeFile(values.notes, notes);
console.log(version);

/** The heading's date and the text below it, up to the next release or the list of links. */
function section(changelog) {
  const start = changelog.split("\n").findIndex((line) => line.startsWith(`## [${version}] - `));
  if (start < 0) fail(`CHANGELOG.md has no section "## [${version}] - DATE"`);
  const [heading, ...rest] = changelog.split("\n").slice(start);
  const end = rest.findIndex((line) => line.startsWith("## ") || /^\[[^\]]+\]: /.test(line));
  const body = rest.slice(0, end < 0 ? rest.length : end).join("\n");
  // Links of the release page have to be absolute.
  const notes = body.trim().replace(/\]\((?!https?:)/g, `](${REPOSITORY}/blob/${tag}/`);
  return { date: heading.split(" - ")[1].trim(), notes: `${notes}\n` };
}

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

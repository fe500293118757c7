// Collects the licence texts of the crates in a program, which must accompany it:
// `node tools/third-party.mjs PACKAGE… TARGET` prints them.
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const REPOSITORY = fileURLToPath(new URL("../", import.meta.url));
const LICENSE_FILE = /^(un)?licen[cs]e|^copying|^copyright|^notice|-licen[cs]e/i;
/** Longer files are not licences. */
const MAX_TEXT = 200_000;

/**
 * The crates that are compiled into programs, with their licences, as Markdown.
 * @param {readonly string[]} names packages in Cargo.toml
 * @param {string} target the compiler's name of the platform
 */
export async function thirdPartyNotices(names, target) {
  const args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
  const { stdout } = await promisify(execFile)("cargo", args, { cwd: REPOSITORY, maxBuffer: 1e9 });
  const { packages, resolve } = JSON.parse(stdout);
  const crates = linkedCrates(names, packages, resolve.nodes);
  /** @type {Map<string, string[]>} names of crates by text */
  const byText = new Map();
  for (const crate of crates) {
    const title = `${crate.name} ${crate.version} (${crate.license ?? "see its text"})`;
    for (const text of await licenseTexts(dirname(crate.manifest_path))) {
      byText.set(text, [...(byText.get(text) ?? []), title]);
    }
  }
  const list = crates.map(({ name, version, license, repository }) =>
    [`- ${name} ${version}: ${license ?? "see its text"}`, ...(repository ? [`<${repository}>`] : [])].join(", "),
  );
  const texts = [...byText].map(([text, titles]) => `## ${titles.join(", ")}\n\n~~~\n${text}\n~~~`);
  return (
    ["# Third-party code", `The crates in ${names.join(" and ")}, for ${target}:`, list.join("\n"), ...texts].join(
      "\n\n",
    ) + "\n"
  );
}

/** The third-party crates that the packages need at run time, sorted. */
function linkedCrates(names, packages, nodes) {
  const byId = new Map(packages.map((crate) => [crate.id, crate]));
  const nodesById = new Map(nodes.map((node) => [node.id, node]));
  const open = names.map((name) => {
    const root = packages.find((crate) => crate.name === name && crate.source === null);
    if (!root) throw new Error(`Cargo.toml has no package ${name}`);
    return root.id;
  });
  const found = new Set();
  while (open.length > 0) {
    const id = open.pop();
    if (found.has(id)) continue;
    found.add(id);
    for (const { pkg, dep_kinds: kinds } of nodesById.get(id)?.deps ?? []) {
      // null is a normal dependency: neither of tests nor of a build script.
      if (kinds.some(({ kind }) => kind === null)) open.push(pkg);
    }
  }
  const crates = [...found].map((id) => byId.get(id)).filter((crate) => crate.source !== null);
  return crates.sort((a, b) => (a.name < b.name || (a.name === b.name && a.version < b.version) ? -1 : 1));
}

async function licenseTexts(folder) {
  const names = (await readdir(folder)).filter((name) => LICENSE_FILE.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8").catch(() => "")));
  return texts.map((text) => text.replaceAll("\r\n", "\n").trim()).filter((text) => text && text.length < MAX_TEXT);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [names, target] = [process.argv.slice(2, -1), process.argv.at(-1)];
  if (names.length === 0 || !target) throw new Error("usage: third-party.mjs PACKAGE… TARGET");
  process.stdout.write(await thirdPartyNotices(names, target));
}

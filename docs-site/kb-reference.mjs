// Writes docs/kb.md from what `kb --help` says: `KB_BINARY=target/debug/kb node docs-site/kb-reference.mjs`.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { cell, inline, table } from "./table.mjs";

const run = promisify(execFile);
const FILE = fileURLToPath(new URL("../docs/kb.md", import.meta.url));
/** Of options that more than this share of the commands have, the commands are not listed. */
const MOST = 0.6;

/** The page about the `kb` of this path. */
export async function kbReference(/** @type {string} */ kb) {
  const { text, entries } = parse(await help(kb));
  const names = entries
    .filter(({ section, name }) => section === "Commands" && name !== "help")
    .map(({ name }) => name);
  const commands = await Promise.all(names.map(async (name) => ({ name, ...parse(await help(kb, name)) })));
  const common = new Map();
  for (const { name, entries } of commands) {
    for (const entry of entries) {
      const { of } = common.get(key(entry)) ?? { of: [] };
      common.set(key(entry), { ...entry, of: [...of, `\`${name}\``] });
    }
  }
  const isCommon = (entry) => common.get(key(entry)).of.length > 1;
  const shared = [...common.values()].filter(isCommon);

  const page = [
    "# The `kb` command",
    `${inline(text)}. This is what \`kb --help\` says; [admin.md](admin.md) shows how to use it.`,
    names.map((name) => `[\`${name}\`](#kb-${name})`).join(" · "),
    "## Options of several commands",
    table(
      ["option", "of", "meaning"],
      shared.map(({ name, of, text: meaning }) => [
        `\`${name}\``,
        of.length > MOST * commands.length ? "most" : of.join(", "),
        cell(meaning),
      ]),
    ),
  ];
  for (const { name, text: about, usage, entries: all } of commands) {
    page.push(
      `## kb ${name}`,
      inline(about),
      `\`\`\`\n${usage}\n\`\`\``,
      entriesTable(all.filter((entry) => !isCommon(entry))),
    );
  }
  return `${page
    .filter(Boolean)
    .map((part) => part.trim())
    .join("\n\n")}\n`;
}

const key = ({ name, text }) => `${name} ${text}`;

const entriesTable = (entries) =>
  table(
    ["option", "meaning"],
    entries.map(({ name, text }) => [`\`${name}\``, cell(text)]),
  );

async function help(kb, ...command) {
  // Without the settings of this environment.
  const env = { PATH: process.env.PATH ?? "", HOME: "/", XDG_CACHE_HOME: "~/.cache" };
  const { stdout } = await run(kb, [...command, "--help"], { env });
  return stdout.replaceAll("/~/.cache", "~/.cache");
}

/** What clap prints: a text, the usage, and sections of entries, each on one line or with its text indented below. */
function parse(output) {
  const lines = output.split("\n");
  const usageAt = lines.findIndex((line) => line.startsWith("Usage: "));
  const entries = [];
  let section = "";
  for (const line of lines.slice(usageAt + 1)) {
    const heading = /^(\w[\w ]*):$/.exec(line);
    const [, name, text = ""] = /^ {2,6}((?:-|<|\[|\w).*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    if (heading) section = heading[1];
    else if (name && !line.startsWith("        ")) entries.push({ section, name, text });
    else if (line.trim() !== "" && entries.length > 0) entries[entries.length - 1].text += ` ${line.trim()}`;
  }
  for (const entry of entries) {
    entry.text = entry.text
      .trim()
      .replace(/\[env: (\w+)=[^\]]*\]/g, "[`$1`]")
      .replace(/\[default: ([^\]]*)\]/g, "[default: $1]");
  }
  return {
    text: lines.slice(0, usageAt).join("\n").trim(),
    usage: lines[usageAt].slice("Usage: ".length),
    entries: entries.filter(({ name }) => !name.includes("--help") && !name.includes("--version")),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await writeFile(FILE, await kbReference(process.env.KB_BINARY ?? "kb"));
}

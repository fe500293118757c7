import config from "@citation-js/plugin-bibtex/lib-mjs/config.js";
import outputs from "@citation-js/plugin-bibtex/lib-mjs/output/index.js";
import { cslItem, oneLine, type ReferenceSource } from "./source.js";

// Pure ASCII would drop every letter that LaTeX has no command for, of Japanese all of them.
config.format.asciiOnly = false;

/** Writes references as BibTeX entries in UTF-8. */
export function formatBibtex(sources: readonly ReferenceSource[]): string {
  const keys = new Set<string>();
  const items = sources.map((source) => bibtexItem(source, unusedKey(keyOf(source), keys)));
  return outputs
    .bibtex(items)
    .replace(HOW_PUBLISHED, "\thowpublished = {\\url{$1}},")
    .replaceAll("\n}\n@", "\n}\n\n@")
    .replaceAll("\t", "  ")
    .trim();
}

function bibtexItem(source: ReferenceSource, key: string): object {
  const { title, publisher, "container-title": container, URL: url, ...item } = cslItem(source, key);
  const site = publisher ?? container;
  return {
    ...item,
    "citation-key": key,
    title: escape(title),
    ...(site !== undefined && { publisher: escape(site) }),
    ...(source.section !== undefined && { "chapter-number": escape(oneLine(source.section)) }),
    ...(url === undefined ? { note: `Accessed ${isoDate(source.accessed)}` } : { URL: escapeUrl(url) }),
  };
}

/** The same document gets the same key in every export: words of its title, and a hash for those that share them. */
function keyOf({ title, url }: ReferenceSource): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return [...(words ?? ["source"]).slice(0, 3).map((word) => word.slice(0, 20)), hash(url ?? title)].join("_");
}

function unusedKey(key: string, used: Set<string>): string {
  let unused = key;
  for (let n = 2; used.has(unused); n++) unused = `${key}_${n}`;
  used.add(unused);
  return unused;
}

/** FNV-1a of the UTF-16 code units, 20 bits of it, as four letters or digits. */
function hash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 12).toString(32).padStart(4, "0");
}

function escape(text: string): string {
  return text.replace(/[\\{}$&%#_~^<>]/g, (special) => ESCAPES[special] ?? `\\${special}`);
}

/** `\url` takes all but what would end its argument, or BibTeX's field. */
function escapeUrl(url: string): string {
  return url.replace(/[\\{}]/g, encodeURIComponent);
}

function isoDate(date: Date): string {
  const [year, ...rest] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return [year, ...rest.map((part) => String(part).padStart(2, "0"))].join("-");
}

/** BibTeX counts braces even where a backslash stands before them: they go by name. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
};

/** For styles that know no `url`, the address stands here as well: as an address, not as text. */
const HOW_PUBLISHED = /^\thowpublished = \{(https?:.*)\},$/gm;

import { isoDate, type ReferenceItem, referenceItem, referenceKeys, type ReferenceSource } from "./source.js";

/** Writes references as BibTeX entries in UTF-8. */
export function formatBibtex(sources: readonly ReferenceSource[]): string {
  const keys = referenceKeys(sources);
  return sources.map((source, index) => entry(referenceItem(source), keys[index] ?? "")).join("\n\n");
}

function entry({ title, url, pages, section, site, accessed }: ReferenceItem, key: string): string {
  const date = isoDate(accessed);
  const address = url && escapeUrl(url);
  const fields: Record<string, string | undefined> = {
    chapter: section && escape(section),
    note: address ? `[Online; accessed ${date}]` : `Accessed ${date}`,
    pages,
    publisher: site && escape(site),
    title: protectCapitals(escape(title)),
    url: address,
    // Older styles do not know `url`.
    howpublished: address && `\\url{${address}}`,
  };
  const lines = Object.entries(fields).map(([name, value]) => (value ? `  ${name} = {${value}},\n` : ""));
  return `@misc{${key},\n${lines.join("")}}`;
}

/** Styles write titles in lower case, except what is in braces. */
function protectCapitals(title: string): string {
  return title.replace(/[\p{L}\p{N}]*\p{Lu}[\p{L}\p{N}]*/gu, (word, at: number) =>
    at === 0 && /^\p{Lu}\P{Lu}*$/u.test(word) ? word : `{${word}}`,
  );
}

function escape(text: string): string {
  return text.replace(/[\\{}$&%#_~^<>]/g, (special) => ESCAPES[special] ?? `\\${special}`);
}

/** `\url` takes every character except those that would end its argument or the BibTeX field. */
function escapeUrl(url: string): string {
  return url.replace(/[\\{}]/g, encodeURIComponent);
}

/** BibTeX counts braces even after a backslash, so they are written by name. */
const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\textbackslash{}",
  "{": "\\textbraceleft{}",
  "}": "\\textbraceright{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
};

import { isoDate, type ReferenceItem, referenceItem, referenceKeys, type ReferenceSource } from "./source.js";

/** Writes references as RIS, which reference managers import. */
export function formatRis(sources: readonly ReferenceSource[]): string {
  return sources.map((source) => risEntry(referenceItem(source))).join("\n\n");
}

function risEntry({ isWebPage, title, url, pages, section, site, accessed }: ReferenceItem): string {
  const fields: [tag: string, value: string | undefined][] = [
    ["TY", isWebPage ? "ELEC" : "GEN"],
    ["TI", title],
    ["SE", section],
    ["PB", site],
    ["SP", pages],
    ["UR", url],
    ["Y2", isoDate(accessed, "/")],
  ];
  const lines = fields.flatMap(([tag, value]) => (value ? `${tag}  - ${value}` : []));
  return [...lines, "ER  - "].join("\n");
}

/** Writes references as CSL-JSON, which citation processors read: https://docs.citationstyles.org/ */
export function formatCslJson(sources: readonly ReferenceSource[]): string {
  const keys = referenceKeys(sources);
  const items = sources.map((source, index) => cslItem(referenceItem(source), keys[index] ?? ""));
  return JSON.stringify(items, null, 2);
}

function cslItem({ isWebPage, title, url, pages, section, site, accessed }: ReferenceItem, id: string): object {
  return {
    id,
    type: isWebPage ? "webpage" : "document",
    title,
    accessed: { "date-parts": [[accessed.getFullYear(), accessed.getMonth() + 1, accessed.getDate()]] },
    ...(url && { URL: url }),
    ...(pages && { page: pages }),
    ...(section && { section }),
    ...(site && { [isWebPage ? "container-title" : "publisher"]: site }),
  };
}

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

import { safeUrl } from "../client/safe-url.js";
import type { Citation } from "../client/wire.js";

/** A document to refer to. */
export interface ReferenceSource {
  readonly title: string;
  /** Omitted from the reference unless http or https. */
  readonly url?: string;
  /** Page numbers from 1. */
  readonly page?: readonly number[];
  readonly section?: string;
  /** When the document was read. */
  readonly accessed: Date;
  /** The publisher of the document. */
  readonly siteName?: string;
}

/** The cited documents: each once, with its cited pages, in the order of the first citation. */
export function sourcesOf(citations: readonly Citation[], accessed: Date): ReferenceSource[] {
  const documents = new Map<string, Citation[]>();
  for (const citation of citations) {
    const passages = documents.get(citation.document_id);
    if (passages) passages.push(citation);
    else documents.set(citation.document_id, [citation]);
  }
  return [...documents.values()].map((passages) => sourceOf(passages, accessed));
}

function sourceOf(passages: readonly Citation[], accessed: Date): ReferenceSource {
  const sections = new Set(passages.map(({ section }) => section));
  const url = passages.find((passage) => passage.url !== undefined)?.url;
  const [section] = sections;
  return {
    title: passages[0]?.title ?? "",
    page: passages.flatMap(({ page }) => page ?? []),
    accessed,
    ...(url !== undefined && { url }),
    // Passages from several sections refer to the whole document.
    ...(sections.size === 1 && section !== undefined && { section }),
  };
}

/** A document with clean, bounded texts, as all formats write it. */
export interface ReferenceItem {
  /** Styles omit the pages of a web page, so a document with pages is never one. */
  readonly isWebPage: boolean;
  readonly title: string;
  /** http or https. */
  readonly url: string | undefined;
  /** Each page once, in order: "3, 5". Empty if none is known. */
  readonly pages: string;
  readonly section: string | undefined;
  readonly site: string | undefined;
  readonly accessed: Date;
}

/** Prepares a document for writing. */
export function referenceItem({ title, url, page, section, siteName, accessed }: ReferenceSource): ReferenceItem {
  const safe = safeUrl(url);
  const pages = [...new Set(page)].sort((a, b) => a - b).join(", ");
  return {
    isWebPage: safe !== undefined && pages === "",
    title: oneLine(title),
    url: safe,
    pages,
    section: section === undefined ? undefined : oneLine(section),
    site: oneLine(siteName ?? "") || undefined,
    accessed,
  };
}

/**
 * A key for each document: words of its title, and a hash to tell documents with the same words apart. A document has
 * the same key in every export.
 */
export function referenceKeys(sources: readonly ReferenceSource[]): string[] {
  const used = new Set<string>();
  return sources.map((source) => {
    const key = keyOf(source);
    let unused = key;
    for (let n = 2; used.has(unused); n++) unused = `${key}_${n}`;
    used.add(unused);
    return unused;
  });
}

function keyOf({ title, url }: ReferenceSource): string {
  const words = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return [...(words ?? ["source"]).slice(0, 3).map((word) => word.slice(0, 20)), hash(url ?? title)].join("_");
}

/** FNV-1a of the UTF-16 code units; 20 bits of it, as four letters or digits. */
function hash(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 12).toString(32).padStart(4, "0");
}

/** Year, month and day of a date in the visitor's time zone, joined: "2026-11-05". */
export function isoDate(date: Date, separator = "-"): string {
  const [year, ...rest] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return [year, ...rest.map((part) => String(part).padStart(2, "0"))].join(separator);
}

/** UTF-16 code units. */
const MAX_LENGTH = 500;

/** The text without line breaks and other control characters, cut to a length that fits a list. */
function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line.length <= MAX_LENGTH) return line;
  // Does not cut between the halves of a surrogate pair.
  return `${line.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

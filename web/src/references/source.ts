import { safeUrl } from "../client/safe-url.js";
import type { Citation } from "../client/wire.js";

/** One document to refer to. */
export interface ReferenceSource {
  readonly title: string;
  /** Left out of the reference unless http or https. */
  readonly url?: string;
  /** Numbers of the pages, the first is 1. */
  readonly page?: readonly number[];
  readonly section?: string;
  /** When the document was read. */
  readonly accessed: Date;
  /** What publishes the document. */
  readonly siteName?: string;
}

/** The documents behind citations: each once, with its cited pages, in the order of their first citation. */
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
    // With passages of several sections, the reference is to the whole document.
    ...(sections.size === 1 && section !== undefined && { section }),
  };
}

/** What CSL-JSON knows of a document. */
export interface CslItem {
  readonly id: string;
  readonly type: "webpage" | "document";
  readonly title: string;
  readonly accessed: { readonly "date-parts": readonly (readonly number[])[] };
  readonly URL?: string;
  readonly page?: string;
  readonly publisher?: string;
  readonly "container-title"?: string;
}

/** A document as Citation.js takes it. */
export function cslItem(source: ReferenceSource, id: string): CslItem {
  const url = safeUrl(source.url);
  const page = [...new Set(source.page)].sort((a, b) => a - b).join(", ");
  const site = oneLine(source.siteName ?? "");
  // Styles leave the pages of a web page out: what has pages is another kind of document.
  const isWebPage = url !== undefined && page === "";
  const { accessed } = source;
  return {
    id,
    type: isWebPage ? "webpage" : "document",
    title: oneLine(source.title),
    accessed: { "date-parts": [[accessed.getFullYear(), accessed.getMonth() + 1, accessed.getDate()]] },
    ...(url !== undefined && { URL: url }),
    ...(page !== "" && { page }),
    ...(site !== "" && { [isWebPage ? "container-title" : "publisher"]: site }),
  };
}

/** A text without line breaks and other control characters, cut where it is too long for a list. */
export function oneLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line.length <= MAX_LENGTH) return line;
  // Not between the halves of a character.
  return `${line.slice(0, MAX_LENGTH - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** UTF-16 code units. */
const MAX_LENGTH = 500;

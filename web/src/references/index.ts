import { formatBibtex } from "./bibtex.js";
import { formatStyle } from "./csl.js";
import type { ReferenceSource } from "./source.js";

export { type ReferenceSource, sourcesOf } from "./source.js";

/** How references can be written; Chicago's by author and date. */
export type ReferenceStyle = "apa" | "mla" | "chicago" | "bibtex";

/**
 * Writes references as plain text, with an empty line between two: sorted as the style asks, BibTeX in the order given.
 * `language` is a BCP 47 tag; a style speaks English where Citation.js does not know the language.
 */
export function formatReferences(sources: readonly ReferenceSource[], style: ReferenceStyle, language: string): string {
  if (sources.length === 0) return "";
  return style === "bibtex" ? formatBibtex(sources) : formatStyle(sources, style, language);
}

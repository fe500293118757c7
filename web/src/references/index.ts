import { formatBibtex, formatCslJson, formatRis } from "./exchange.js";
import type { ReferenceSource } from "./source.js";
import { formatStyle } from "./styles.js";

export { type ReferenceSource, sourcesOf } from "./source.js";

/** A format of references; Chicago's is by author and date. */
export type ReferenceFormat = "apa" | "mla" | "chicago" | "bibtex" | "ris" | "csl-json";

/**
 * Writes references as plain text. The styles (APA, MLA, Chicago) sort them and put an empty line between two; the
 * other formats keep the given order. `language` is a BCP 47 tag; a style uses English if it does not know the
 * language.
 */
export function formatReferences(
  sources: readonly ReferenceSource[],
  format: ReferenceFormat,
  language: string,
): string {
  if (sources.length === 0) return "";
  switch (format) {
    case "bibtex":
      return formatBibtex(sources);
    case "ris":
      return formatRis(sources);
    case "csl-json":
      return formatCslJson(sources);
    default:
      return formatStyle(sources, format, language);
  }
}

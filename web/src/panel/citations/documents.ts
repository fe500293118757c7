import type { Citation, Passage } from "../../client/wire.js";
import { withoutBidiControls } from "../../dom/bidi.js";
import type { Translated, Translator } from "../../dom/translator.js";

/** Groups passages by document, in the order of the documents' numbers. */
export function byDocument(citations: readonly Citation[]): readonly (readonly Citation[])[] {
  const documents = new Map<number, Citation[]>();
  for (const citation of citations) {
    const passages = documents.get(citation.index);
    if (passages) passages.push(citation);
    else documents.set(citation.index, [citation]);
  }
  return [...documents].sort(([a], [b]) => a - b).map(([, passages]) => passages);
}

/** The headings above a passage, without the document's title, which is shown next to them. */
export function sectionOf({ section, title }: Passage): string | undefined {
  if (section === undefined || section === title) return undefined;
  const prefix = `${title} › `;
  return withoutBidiControls(section.startsWith(prefix) ? section.slice(prefix.length) : section);
}

/** The server's title for a document without one. */
const UNKNOWN = "Unknown document";

/** The title of a document, or "Unknown document" in the widget's language. */
export function titleOf({ title }: Passage, { t }: Translator): string | Translated {
  const name = withoutBidiControls(title).trim();
  return name === "" || name === UNKNOWN ? t("unknownDocument") : name;
}

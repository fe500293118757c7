import type { Passage } from "../../client/wire.js";
import { withoutBidiControls } from "../../dom/bidi.js";

/** The headings above a passage, without the document's title, which stands beside them anyway. */
export function sectionOf({ section, title }: Passage): string | undefined {
  if (section === undefined || section === title) return undefined;
  const prefix = `${title} › `;
  return withoutBidiControls(section.startsWith(prefix) ? section.slice(prefix.length) : section);
}

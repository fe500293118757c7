import type { FoundPassage } from "../../client/wire.js";
import { withoutBidiControls } from "../../client/text.js";
import { type Attributes, type Child, element } from "../../dom/element.js";
import type { Translated, Translator } from "../../dom/translator.js";

/** The headings above a passage, without the document's title, which is shown next to them. */
export function sectionOf({ section, title }: FoundPassage): string | undefined {
  if (section === undefined || section === title) return undefined;
  const prefix = `${title} › `;
  return withoutBidiControls(section.startsWith(prefix) ? section.slice(prefix.length) : section);
}

/** The server's title for a document without one. */
const UNKNOWN = "Unknown document";

/** The title of a document, or "Unknown document" in the widget's language. */
export function titleOf({ title }: FoundPassage, { t }: Translator): string | Translated {
  const name = withoutBidiControls(title).trim();
  return name === "" || name === UNKNOWN ? t("unknownDocument") : name;
}

/** The title of a document and the places of its passages; `first` is one of them. `more` is shown below. */
export function headingOf(
  first: FoundPassage,
  passages: readonly FoundPassage[],
  translator: Translator,
  more?: Child,
  title: Attributes = { "data-role": "source-title" },
): HTMLElement {
  return element(
    "span",
    { class: "source-heading" },
    element("span", { class: "source-title", ...title }, element("bdi", {}, titleOf(first, translator))),
    placesOf(passages, translator),
    more,
  );
}

/** Number of places that are shown for a document. */
const MAX_PLACES = 2;

/** Section and page of passages, each place once; `undefined` if none is known. */
export function placesOf(passages: readonly FoundPassage[], translator: Translator): HTMLElement | undefined {
  const all = passages.map((passage) => ({ section: sectionOf(passage), page: passage.page }));
  const places = new Map(all.map((place) => [JSON.stringify([place.section, place.page]), place]));
  const known = [...places.values()].filter(({ section, page }) => section !== undefined || page !== undefined);
  if (known.length === 0) return undefined;
  const shown = known
    .slice(0, MAX_PLACES)
    .flatMap((known, number) => [...(number > 0 ? ["; "] : []), drawPlace(known, translator)]);
  return element(
    "span",
    { class: "source-place", "data-role": "source-place" },
    ...shown,
    known.length > MAX_PLACES ? "; …" : undefined,
  );
}

interface Place {
  readonly section: string | undefined;
  readonly page: number | undefined;
}

function drawPlace({ section, page }: Place, { t }: Translator): HTMLElement {
  return element(
    "span",
    {},
    section === undefined ? undefined : element("bdi", {}, section),
    section === undefined || page === undefined ? undefined : " · ",
    page === undefined ? undefined : t("page", { count: page }),
  );
}

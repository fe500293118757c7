import type { Passage } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import { drawPassage } from "./passage/draw.js";
import { passageOf } from "./passage/parse.js";
import type { Range } from "./passage/tree.js";

/** A longer passage, in UTF-16 code units, gets its own scrollbar. */
const MAX_UNSCROLLED_LENGTH = 4000;

/** The whole text of a passage, with ranges of its source highlighted. */
export function excerptOf(
  passage: Passage & { readonly excerpt?: string },
  quotes: readonly Range[] = [],
): HTMLElement | undefined {
  const { excerpt } = passage;
  if (excerpt === undefined) return undefined;
  const isLong = excerpt.length > MAX_UNSCROLLED_LENGTH;
  return element(
    "blockquote",
    { class: isLong ? "excerpt long" : "excerpt", tabindex: isLong && 0, "data-role": "excerpt" },
    ...drawPassage(passageOf(passage), quotes),
  );
}

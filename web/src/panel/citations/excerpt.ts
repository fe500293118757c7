import type { Passage } from "../../client/wire.js";
import { element } from "../../dom/element.js";
import { drawPassage } from "./passage/draw.js";
import { passageOf } from "./passage/parse.js";
import type { Range } from "./passage/tree.js";

/** A passage of so many UTF-16 code units scrolls by itself. */
const LONG = 4000;

/** The whole text of a passage, with some ranges of its source highlighted. */
export function excerptOf(
  passage: Passage & { readonly excerpt?: string },
  quotes: readonly Range[] = [],
): HTMLElement | undefined {
  const { excerpt } = passage;
  if (excerpt === undefined) return undefined;
  const isLong = excerpt.length > LONG;
  return element(
    "blockquote",
    { class: isLong ? "excerpt long" : "excerpt", tabindex: isLong && 0, "data-role": "excerpt" },
    ...drawPassage(passageOf(passage), quotes),
  );
}

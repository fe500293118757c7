import type { Citation } from "../../../client/wire.js";
import { parsePassage } from "./parse.js";
import type { PassageNode } from "./tree.js";

const passages = new WeakMap<Citation, readonly PassageNode[]>();

/** A citation's passage, which is read once. */
export function passageOf(citation: Citation): readonly PassageNode[] {
  const passage = passages.get(citation) ?? parsePassage(citation.excerpt, citation.content_type);
  passages.set(citation, passage);
  return passage;
}

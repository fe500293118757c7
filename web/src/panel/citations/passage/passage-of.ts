import type { Passage } from "../../../client/wire.js";
import { parsePassage } from "./parse.js";
import type { PassageNode } from "./tree.js";

const parsed = new WeakMap<Passage, readonly PassageNode[]>();

/** The text of a passage, which is parsed once. */
export function passageOf(passage: Passage & { readonly excerpt?: string }): readonly PassageNode[] {
  const nodes = parsed.get(passage) ?? parsePassage(passage.excerpt ?? "", passage.content_type);
  parsed.set(passage, nodes);
  return nodes;
}

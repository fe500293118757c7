import type { Passage } from "../../../client/wire.js";
import { lazyImport } from "../../../dom/lazy-import.js";
import { type PassageNode, plainPassage } from "./tree.js";

const importParser = lazyImport(() => import("./parse.js"));
let parse: typeof import("./parse.js").parsePassage | undefined;
let loading: Promise<void> | undefined;

const parsed = new WeakMap<Passage, readonly PassageNode[]>();

/**
 * Loads the parser. Whoever is about to show passages waits for it. If it cannot be loaded, they are shown as they are written.
 */
export function loadParser(): Promise<void> {
  loading ??= importParser().then(
    ({ parsePassage }) => void (parse = parsePassage),
    () => void (loading = undefined),
  );
  return loading;
}

/** The parsed text of a passage. Each passage is parsed only once. */
export function passageOf(passage: Passage & { readonly excerpt?: string }): readonly PassageNode[] {
  const { excerpt = "", content_type } = passage;
  if (!parse) return plainPassage(excerpt);
  const nodes = parsed.get(passage) ?? parse(excerpt, content_type);
  parsed.set(passage, nodes);
  return nodes;
}

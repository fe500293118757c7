import type { Passage, PassageLayout } from "../../../client/wire.js";
import { lazyImport } from "../../../dom/lazy-import.js";
import { layOut } from "./blocks.js";
import { type PassageNode, plainPassage } from "./tree.js";

/** A passage with its text. */
type PassageWithText = Passage & { readonly excerpt?: string; readonly blocks?: PassageLayout };

const importParser = lazyImport(() => import("./parse.js"));
let parse: typeof import("./parse.js").parsePassage | undefined;
let loading: Promise<void> | undefined;

const drawn = new WeakMap<Passage, readonly PassageNode[]>();

/**
 * Loads the parser of Markdown if one of the passages needs it. Whoever is about to show them waits for it. If it cannot be loaded, they are
 * shown as they are written.
 */
export async function loadParserFor(passages: readonly PassageWithText[]): Promise<void> {
  if (passages.some(({ excerpt, blocks }) => excerpt !== undefined && !blocks)) await loadParser();
}

/** Loads the parser of Markdown. */
export function loadParser(): Promise<void> {
  loading ??= importParser().then(
    ({ parsePassage }) => void (parse = parsePassage),
    () => void (loading = undefined),
  );
  return loading;
}

/** The text of a passage with its structure. Each passage is read only once. */
export function passageOf(passage: PassageWithText): readonly PassageNode[] {
  const { excerpt = "", blocks, content_type } = passage;
  if (!blocks && !parse) return plainPassage(excerpt);
  const nodes =
    drawn.get(passage) ??
    (blocks ? layOut(excerpt, blocks) : (parse?.(excerpt, content_type) ?? plainPassage(excerpt)));
  drawn.set(passage, nodes);
  return nodes;
}

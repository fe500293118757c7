import type { Passage } from "../../../client/wire.js";
import { lazyImport } from "../../../dom/lazy-import.js";
import { type PassageNode, plainPassage } from "./tree.js";

const importParser = lazyImport(() => import("./index.js"));
let parse: typeof import("./index.js").parsePassage | undefined;
let loading: Promise<void> | undefined;

let sheet: CSSStyleSheet | undefined;

/** The style sheet of passages, for panels to adopt; empty until the parser is there. */
export function passageSheet(): CSSStyleSheet {
  return (sheet ??= new CSSStyleSheet());
}

const parsed = new WeakMap<Passage, readonly PassageNode[]>();

/**
 * Loads the parser and the styles. Whoever is about to show passages waits for it. If they cannot be loaded, passages are shown as they
 * are written.
 */
export function loadParser(): Promise<void> {
  loading ??= importParser().then(
    ({ parsePassage, styles }) => {
      parse = parsePassage;
      passageSheet().replaceSync(styles);
    },
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

/** A text that `toString` gives in the current language. */
export interface TranslatedText {
  toString(): string;
}

/** The texts of a node: by attribute name, or by `undefined` for its own text. */
type TextsOfNode = Map<string | undefined, TranslatedText>;

/**
 * The texts are kept on the node itself. The wrapper object of a node in the page may be collected, and a weak
 * reference is then empty, unless the wrapper has a property of its own.
 */
const TEXTS = Symbol("translated texts of this node");

interface TranslatedNode extends Node {
  [TEXTS]?: TextsOfNode;
}

/** The nodes that show translated texts. Nodes that nothing else refers to are forgotten. */
export class TranslatedNodes {
  #nodes: WeakRef<TranslatedNode>[] = [];
  #sweepAt = 256;

  /** Shows a text in a text node, or in an attribute of an element, and keeps it up to date. */
  add(node: TranslatedNode, attribute: string | undefined, text: TranslatedText): void {
    if (!node[TEXTS]) {
      node[TEXTS] = new Map();
      if (this.#nodes.length >= this.#sweepAt) this.#sweep();
      this.#nodes.push(new WeakRef(node));
    }
    node[TEXTS].set(attribute, text);
    show(node, attribute, text);
  }

  /** Shows all texts in the current language. */
  update(): void {
    this.#sweep();
    for (const reference of this.#nodes) {
      const node = reference.deref();
      for (const [attribute, text] of node?.[TEXTS] ?? []) if (node) show(node, attribute, text);
    }
  }

  /** Drops the references to collected nodes. */
  #sweep(): void {
    this.#nodes = this.#nodes.filter((node) => node.deref() !== undefined);
    this.#sweepAt = 2 * this.#nodes.length + 256;
  }
}

function show(node: Node, attribute: string | undefined, text: TranslatedText): void {
  if (node instanceof Text) node.data = text.toString();
  else if (node instanceof Element && attribute !== undefined) node.setAttribute(attribute, text.toString());
}

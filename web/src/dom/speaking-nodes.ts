import type { Translated } from "./translator.js";

/** What a node says: by an attribute's name, or by `undefined` for its own text. */
type Spoken = Map<string | undefined, Translated>;

/**
 * On the node itself. An object that stands for a node may be collected while the node is on the page, and a weak
 * reference to it with it, unless the object has a property of its own to keep.
 */
const SPOKEN = Symbol("what this node says");

interface Speaking extends Node {
  [SPOKEN]?: Spoken;
}

/** The nodes that show translated texts, as long as anybody can see them. */
export class SpeakingNodes {
  #nodes: WeakRef<Speaking>[] = [];
  #sweepAt = 256;

  /** Shows a text in a text node, or in an attribute of an element, from now on. */
  add(node: Speaking, attribute: string | undefined, translated: Translated): void {
    if (!node[SPOKEN]) {
      node[SPOKEN] = new Map();
      if (this.#nodes.length >= this.#sweepAt) this.#sweep();
      this.#nodes.push(new WeakRef(node));
    }
    node[SPOKEN].set(attribute, translated);
    show(node, attribute, translated);
  }

  /** Has all of them say the same in the language of this moment. */
  update(): void {
    this.#sweep();
    for (const reference of this.#nodes) {
      const node = reference.deref();
      for (const [attribute, translated] of node?.[SPOKEN] ?? []) if (node) show(node, attribute, translated);
    }
  }

  /** Forgets what is gone. */
  #sweep(): void {
    this.#nodes = this.#nodes.filter((node) => node.deref() !== undefined);
    this.#sweepAt = 2 * this.#nodes.length + 256;
  }
}

function show(node: Node, attribute: string | undefined, translated: Translated): void {
  if (node instanceof Text) node.data = translated.toString();
  else if (node instanceof Element && attribute !== undefined) node.setAttribute(attribute, translated.toString());
}

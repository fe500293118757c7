import type { Citation } from "../client/wire.js";
import { button, element } from "./dom.js";
import { type AnswerPiece, MarkerParser } from "./markers.js";
import { SourcesView } from "./sources-view.js";

interface Marker {
  readonly index: number;
  readonly button: HTMLButtonElement;
}

/** A streamed answer: its text, the markers in it, and the sources they point at. */
export class AnswerView {
  readonly root = element("div", { class: "answer" });
  readonly #text = element("p", { class: "answer-text", part: "answer", "data-role": "answer" });
  readonly #parser = new MarkerParser();
  readonly #markers: Marker[] = [];
  #sources: SourcesView | undefined;

  constructor() {
    this.root.append(this.#text);
  }

  get text(): string {
    return [...this.#text.childNodes].map(plainText).join("");
  }

  append(delta: string): void {
    for (const piece of this.#parser.push(delta)) this.#show(piece);
  }

  /** The text is over, because all of it came or because no more will. */
  finishText(): void {
    for (const piece of this.#parser.finish()) this.#show(piece);
  }

  showSources(citations: readonly Citation[]): void {
    this.finishText();
    this.#sources?.root.remove();
    this.#sources = new SourcesView(citations);
    if (citations.length > 0) this.root.append(this.#sources.root);
    for (const marker of this.#markers) this.#resolve(marker, this.#sources);
  }

  #show(piece: AnswerPiece): void {
    if (piece.kind === "text") {
      const last = this.#text.lastChild;
      if (last instanceof Text) last.appendData(piece.text);
      else this.#text.append(piece.text);
      return;
    }
    const marker = this.#marker(piece.index);
    this.#markers.push({ index: piece.index, button: marker });
    this.#text.append(marker);
  }

  /** A marker leads nowhere before the sources are there, nor ever if the answer is cut off before them. */
  #marker(index: number): HTMLButtonElement {
    const marker = button(
      {
        class: "marker",
        part: "marker",
        disabled: true,
        "data-role": "marker",
        "data-index": index,
        "aria-label": `Source ${index}`,
      },
      () => this.#sources?.reveal(index, wordsBefore(marker)),
      String(index),
    );
    return marker;
  }

  /** Names the source a marker leads to. A marker without one was no marker, but words in brackets. */
  #resolve({ index, button }: Marker, sources: SourcesView): void {
    const title = sources.titleOf(index);
    if (title === undefined) {
      button.replaceWith(`[${index}]`);
      return;
    }
    button.disabled = false;
    button.setAttribute("aria-label", `Source ${index}: ${title}`);
    button.title = title;
  }
}

/** The text between a marker and the one before it; markers side by side belong to the same words. */
function wordsBefore(marker: Node): string {
  let words = "";
  for (let node = marker.previousSibling; node; node = node.previousSibling) {
    if (node instanceof Text) words = node.data + words;
    else if (words.trim() !== "") break;
  }
  return words;
}

function plainText(node: Node): string {
  return node instanceof HTMLButtonElement ? `[${node.dataset.index}]` : (node.textContent ?? "");
}

import answerStyles from "./answer.css";
import cardStyles from "./card.css";
import passageStyles from "./passage/passage.css";
import sourceStyles from "./sources.css";
import type { AnswerMode, Citation, FoundPassage, GenerationReport } from "../../client/wire.js";
import { withoutBidiControls } from "../../client/text.js";
import { button, element, fill } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import { drawCard } from "./card-content.js";
import { cardOf } from "./card.js";
import { asMarkdown, asPlainText, type CopiedPiece } from "./copy.js";
import { titleOf } from "./documents.js";
import { generatedNote, leftOutNote } from "./generated-note.js";
import type { Download } from "./links.js";
import { type AnswerPiece, MarkerParser, sentencesOf, supportedTarget, type Target, targetOf } from "./markers.js";
import { lightenChains } from "./pieces.js";
import { alsoFound, type SourcesView, sourcesView } from "./sources-view.js";

/** Style sheet of answers, their sources and passages, for the panel to adopt. Rules of the card override those of sources. */
export const citationStyles: string = [answerStyles, sourceStyles, passageStyles, cardStyles].join("\n");

/** Actions of the sources of an answer. */
export interface CitationActions {
  /** Called when the visitor opens a source. */
  readonly opened: (citation: Citation) => void;
  /** Fetches the original file with the visitor's token and saves it. Rejects with an `Error`. */
  readonly download: Download;
  /** The element below the list of sources, if any. */
  readonly exportReferences: (citations: readonly Citation[]) => HTMLElement | undefined;
}

/** Milliseconds between the sentences of an answer that come at once. */
const SENTENCE_MS = 180;
/** However many pieces come at once, the last one appears soon. */
const MAX_DELAY_MS = 3 * SENTENCE_MS;

interface Marker {
  readonly kind: "marker";
  readonly index: number;
  /** Position of the sentence before the marker; only in a generated answer. */
  readonly sentence: number;
  readonly badge: HTMLButtonElement;
  target?: Target;
}

type ShownPiece = Exclude<AnswerPiece, { kind: "marker" }> | Marker;

/** A streamed answer: its text, its markers, and their sources. */
export class AnswerView {
  readonly root = element("div", { class: "answer" });
  readonly translator: Translator;
  readonly #actions: CitationActions;
  readonly #text = element("p", { class: "answer-text", part: "answer", dir: "auto", "data-role": "answer" });
  /** Where the next piece of the text goes: the text, or the sentence that arrives. */
  #place: HTMLElement = this.#text;
  /** When the latest sentence begins to appear, as `performance.now()`. */
  #arrival = -SENTENCE_MS;
  readonly #parser = new MarkerParser();
  #pieces: ShownPiece[] = [];
  #hedge: HTMLElement | undefined;
  /** Below the text of a generated answer. */
  #note: HTMLElement | undefined;
  /** Number of complete sentences of a generated answer. */
  #sentences = 0;
  #generation: GenerationReport | undefined;
  #citations: readonly Citation[] = [];
  #alsoFound: readonly FoundPassage[] = [];
  #sources: SourcesView | undefined;
  /** The answer that lists the sources, if it is not this one. */
  #listing: AnswerView | undefined;
  #others: HTMLElement | undefined;

  constructor(translator: Translator, actions: CitationActions) {
    this.translator = translator;
    this.#actions = actions;
    this.root.append(this.#text);
  }

  /** The visible text, with its markers. */
  get text(): string {
    return this.#pieces.map((piece) => (piece.kind === "marker" ? `[${piece.index}]` : piece.text)).join("");
  }

  get citations(): readonly Citation[] {
    return this.#citations;
  }

  get alsoFound(): readonly FoundPassage[] {
    return this.#alsoFound;
  }

  get isHedged(): boolean {
    return this.#hedge !== undefined;
  }

  /** Adds a warning above the text that the passages may not answer the question. */
  hedge(): void {
    this.#hedge ??= element(
      "p",
      { class: "hedge", part: "hedge", role: "note", "data-role": "hedge" },
      this.translator.t("hedged"),
    );
    this.root.prepend(this.#hedge);
  }

  get mode(): AnswerMode {
    return this.#note ? "generated" : "extractive";
  }

  get generation(): GenerationReport | undefined {
    return this.#generation;
  }

  /** Says below the text that a language model wrote it, and where. Call it before the text. */
  markGenerated(text: "generated" | "generatedOnDevice" = "generated"): void {
    this.#note ??= generatedNote(this.translator, text);
    this.#text.after(this.#note);
  }

  /** Shows how the answer was written. Without a note below the text, the report says why it consists of quotes. */
  report(generation: GenerationReport): void {
    this.#generation = generation;
    if (this.#note) fill(this.#note, leftOutNote(generation, this.translator));
  }

  /**
   * Adds the next sentence of a stream. The first one is there at once; those that come with it appear one after the other. All of
   * them are in the page from the start, so nothing moves, and screen readers get the complete answer.
   */
  arrive(delta: string): void {
    const now = performance.now();
    this.#arrival = Math.min(Math.max(now, this.#arrival + SENTENCE_MS), now + MAX_DELAY_MS);
    this.#place = element("span");
    this.#place.style.animationDelay = `${this.#arrival - now}ms`;
    this.#text.append(this.#place);
    this.append(delta);
  }

  append(delta: string): void {
    const text = withoutBidiControls(delta);
    if (!this.#note) return this.#show(this.#parser.push(text));
    for (const sentence of sentencesOf(text)) {
      this.#show(this.#parser.push(sentence));
      this.#sentences++;
    }
  }

  /** The text has ended, complete or not. */
  finishText(): void {
    this.#show(this.#parser.finish());
  }

  /** The answer is complete: markers that still have no source become plain text. */
  complete(): void {
    this.finishText();
    this.#resolve();
  }

  /**
   * Lists the sources and links the markers to them. A marker without a source becomes plain text. The passages in
   * `found`, which the answer does not quote, get a list of their own.
   */
  showSources(citations: readonly Citation[], found: readonly FoundPassage[] = []): void {
    this.finishText();
    this.#citations = citations;
    this.#alsoFound = found;
    this.#resolve();
    this.#sources?.root.remove();
    this.#others?.remove();
    this.#sources = citations.length > 0 ? this.#listSources(citations) : undefined;
    this.#others = alsoFound(found, this.translator, this.#actions.download);
    fill(this.root, this.#sources?.root, this.#others);
  }

  /** Links the markers to the sources that `listing`, the answer below, lists. */
  cite(citations: readonly Citation[], listing: AnswerView): void {
    this.#citations = citations;
    this.#listing = listing;
    this.complete();
  }

  /** The answer as plain text, with the title of the document in brackets for each marker. */
  plainText(): string {
    return asPlainText(this.#copied(), this.translator);
  }

  /** The answer as Markdown, with a footnote for each marker: the quote and its place. */
  markdown(): string {
    return asMarkdown(this.#copied(), this.translator);
  }

  #copied(): CopiedPiece[] {
    const pieces = this.#pieces.map((piece): CopiedPiece => {
      if (piece.kind !== "marker") return piece;
      return piece.target ? { kind: "source", target: piece.target } : { kind: "text", text: `[${piece.index}]` };
    });
    const { translator } = this;
    if (this.isHedged) pieces.unshift({ kind: "text", text: `${translator.format("hedged")}\n\n` });
    if (this.#note) pieces.push({ kind: "text", text: `\n\n${translator.format("generatedCopy")}` });
    return pieces;
  }

  #listSources(citations: readonly Citation[]): SourcesView {
    const { opened, download, exportReferences } = this.#actions;
    const { translator } = this;
    const sources = sourcesView(citations, { translator, opened, download, answer: () => this.text });
    fill(sources.root, exportReferences(citations));
    return sources;
  }

  #markers(): Marker[] {
    return this.#pieces.filter((piece) => piece.kind === "marker");
  }

  #show(pieces: readonly AnswerPiece[]): void {
    for (const piece of pieces) {
      if (piece.kind === "marker") this.#addMarker(piece.index);
      else this.#addText(piece.text);
    }
  }

  #addText(text: string): void {
    const last = this.#pieces.at(-1);
    if (last?.kind === "text") this.#pieces[this.#pieces.length - 1] = { kind: "text", text: last.text + text };
    else this.#pieces.push({ kind: "text", text });
    const open = this.#place.lastChild;
    if (open instanceof Text) open.appendData(text);
    else this.#place.append(text);
  }

  /** A marker is disabled until the sources arrive. */
  #addMarker(index: number): void {
    const badge = button(
      {
        class: "marker",
        part: "marker",
        disabled: true,
        "data-role": "marker",
        "data-index": index,
        "aria-label": this.translator.t("source", { count: index }),
      },
      () => this.#reveal(marker),
      this.translator.t("sourceNumber", { count: index }),
    );
    const marker: Marker = { kind: "marker", index, sentence: this.#sentences, badge };
    this.#pieces.push(marker);
    this.#place.append(badge);
  }

  #resolve(): void {
    for (const marker of this.#markers()) {
      const target = this.#note
        ? supportedTarget(this.#citations, marker.index, marker.sentence)
        : targetOf(this.#citations, marker.index, this.#wordsBefore(marker));
      if (target) this.#activateMarker(marker, target);
      else marker.badge.replaceWith(`[${marker.index}]`);
    }
    this.#pieces = this.#pieces.map((piece) =>
      piece.kind === "marker" && !piece.target ? { kind: "text", text: `[${piece.index}]` } : piece,
    );
    lightenChains(this.#text, this.#citations);
  }

  #activateMarker(marker: Marker, target: Target): void {
    const { badge } = marker;
    const isNew = marker.target === undefined;
    const title = titleOf(target.citation, this.translator);
    marker.target = target;
    badge.disabled = false;
    const label = this.translator.t("sourceNamed", { count: marker.index, title: String(title) });
    label.bindTo(badge, "aria-label");
    if (isNew) cardOf(this.translator).attach({ badge, home: this.root, draw: (ids) => this.#drawCard(marker, ids) });
  }

  #drawCard(marker: Marker, ids: { title: string; description: string }): Node[] {
    if (!marker.target) return [];
    const context = {
      translator: this.translator,
      download: this.#actions.download,
      answer: () => this.text,
      reveal: () => this.#reveal(marker),
    };
    return drawCard(marker.target, context, ids);
  }

  #reveal({ target }: Marker): void {
    cardOf(this.translator).close();
    if (!target) return;
    const { citation } = target;
    const listed = this.#listing?.citations.find(({ chunk_id }) => chunk_id === citation.chunk_id);
    (this.#listing ?? this).#sources?.reveal(listed ?? citation);
    this.#actions.opened(citation);
  }

  /** The text between a marker and the previous one; adjacent markers belong to the same words. */
  #wordsBefore(marker: Marker): string {
    let words = "";
    for (let place = this.#pieces.indexOf(marker) - 1; place >= 0; place--) {
      const piece = this.#pieces[place];
      if (piece === undefined || piece.kind === "marker") {
        if (words.trim() !== "") break;
      } else words = piece.text + words;
    }
    return words;
  }
}

import type { Citation, SearchResult } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { fold, wordsOf } from "../citations/cited-place.js";
import { headingOf } from "../citations/documents.js";
import { shownWords } from "../citations/quotes.js";

/** Draws passages and opens places. The panel passes these functions, because it has their code already. */
export interface PassageTools {
  readonly excerptOf: (
    passage: SearchResult,
    quotes: readonly { start: number; end: number }[],
  ) => HTMLElement | undefined;
  readonly urlOfWords: (passage: SearchResult, cited: readonly Citation[]) => string | undefined;
}

/** The list of results above the question box, or the passage of one that has no page to open. */
export class ResultList {
  readonly root = element("div", { class: "results", part: "results", "data-role": "results", hidden: true });
  readonly #translator: Translator;
  readonly #tools: PassageTools;
  readonly #choose: (at: number) => void;
  readonly #close: () => void;
  #options: readonly HTMLElement[] = [];
  #chosen = -1;

  constructor(translator: Translator, tools: PassageTools, choose: (at: number) => void, close: () => void) {
    this.#translator = translator;
    this.#tools = tools;
    this.#choose = choose;
    this.#close = close;
    // The question box keeps the focus, so that typing goes on and a keyboard on the screen stays.
    this.root.addEventListener("mousedown", (event) => {
      if (event.target instanceof Element && event.target.closest("[role=listbox]")) event.preventDefault();
    });
  }

  /** Id of the list, for `aria-controls`. */
  static readonly LIST_ID = "results";

  get isOpen(): boolean {
    return !this.root.hidden;
  }

  /** Whether a passage is shown in place of the list. */
  get isPassage(): boolean {
    return this.isOpen && this.#options.length === 0;
  }

  /** Number of the chosen result; -1 if none is. */
  get chosen(): number {
    return this.#chosen;
  }

  /** Id of the chosen result, for `aria-activedescendant`. */
  get chosenId(): string | undefined {
    return this.#options[this.#chosen]?.id;
  }

  /** Shows results, none of them chosen. */
  show(results: readonly SearchResult[], query: string): void {
    this.#options = results.map((result, at) => this.#option(result, query, at));
    this.#chosen = -1;
    const count = this.#translator.t("places", { count: results.length });
    this.root.replaceChildren(
      element("p", { class: "results-head", id: "results-head", "data-role": "results-count" }, count),
      element(
        "ul",
        { id: ResultList.LIST_ID, role: "listbox", "aria-labelledby": "results-head", "data-role": "results-list" },
        ...this.#options,
      ),
    );
    this.root.scrollTop = 0;
    this.root.hidden = false;
  }

  /** Shows the whole passage of a result, and moves the focus to it. */
  showPassage(result: SearchResult): void {
    const { t } = this.#translator;
    this.#options = [];
    this.#chosen = -1;
    const passage = element(
      "div",
      {
        class: "results-passage",
        role: "group",
        tabindex: -1,
        "aria-labelledby": "results-head",
        "data-role": "result-passage",
      },
      element(
        "div",
        { class: "results-head" },
        element("span", { id: "results-head" }, headingOf(result, [result], this.#translator)),
        button(
          { class: "icon-button", "aria-label": t("close"), "data-role": "result-close" },
          this.#close,
          icon(icons.close),
        ),
      ),
      this.#tools.excerptOf(result, result.quotes),
    );
    this.root.replaceChildren(passage);
    this.root.scrollTop = 0;
    this.root.hidden = false;
    passage.focus({ preventScroll: true });
  }

  hide(): void {
    this.root.hidden = true;
    this.root.replaceChildren();
    this.#options = [];
    this.#chosen = -1;
  }

  /** Chooses the next result (1) or the previous one (-1). Before the first and after the last, none is chosen. */
  move(by: 1 | -1): void {
    const places = this.#options.length + 1;
    this.#chosen = ((this.#chosen + 1 + by + places) % places) - 1;
    for (const [at, option] of this.#options.entries())
      option.setAttribute("aria-selected", String(at === this.#chosen));
    this.#options[this.#chosen]?.scrollIntoView({ block: "nearest" });
  }

  #option(result: SearchResult, query: string, at: number): HTMLElement {
    const sentence = result.quotes.map(shownWords).join(" ");
    const words = matchingWords(sentence, query).map(({ text, isMatch }) =>
      isMatch ? element("mark", {}, text) : text,
    );
    const option = element(
      "li",
      {
        id: `result-${at}`,
        class: "result",
        part: "result",
        role: "option",
        "aria-selected": "false",
        "data-role": "result",
      },
      headingOf(result, [result], this.#translator),
      element("span", { class: "result-sentence clamped", dir: "auto", "data-role": "result-sentence" }, ...words),
    );
    option.addEventListener("click", () => this.#choose(at));
    return option;
  }
}

/** A text, and whether it is a word of the query. */
interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Words of fewer characters are not marked: articles and prepositions are in every sentence. */
const MIN_LENGTH = 3;
/** Inflected words share at least this many characters. */
const MIN_STEM = 4;
const MAX_ENDING = 3;

/** Cuts a sentence into words of the query, also while they are typed or inflected, and what is between them. */
export function matchingWords(sentence: string, query: string): readonly Piece[] {
  const wanted = wordsOf(query)
    .map(({ text }) => fold(text))
    .filter((word) => word.length >= MIN_LENGTH);
  const pieces: Piece[] = [];
  let cut = 0;
  for (const { text, start, end } of wordsOf(sentence)) {
    const word = fold(text);
    if (!wanted.some((other) => isSameWord(word, other))) continue;
    if (start > cut) pieces.push({ text: sentence.slice(cut, start), isMatch: false });
    pieces.push({ text, isMatch: true });
    cut = end;
  }
  return cut < sentence.length ? [...pieces, { text: sentence.slice(cut), isMatch: false }] : pieces;
}

function isSameWord(word: string, wanted: string): boolean {
  if (word.startsWith(wanted)) return true;
  const shorter = Math.min(word.length, wanted.length);
  let shared = 0;
  while (shared < shorter && word[shared] === wanted[shared]) shared++;
  return shared >= MIN_STEM && Math.max(word.length, wanted.length) - shared <= MAX_ENDING;
}

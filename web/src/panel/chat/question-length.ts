import { MAX_TOKENS } from "@evidence-chat/embedder";
import { element } from "../../dom/element.js";
import type { Translated, Translator } from "../../dom/translator.js";
import type { QuestionEmbedder } from "../model/model-loader.js";

/** Shorter texts always fit the model: its tokenizer makes at most four tokens of a character. In UTF-16 code units. */
const MAX_UNCOUNTED_LENGTH = (MAX_TOKENS - 2) / 4;

/** Debounce before the tokens are counted. */
const TYPING_PAUSE_MS = 150;

/** Warns if a question has more tokens than the model reads, by the model's tokenizer. */
export class QuestionLength {
  readonly root = element("div", { role: "status" });
  readonly #translator: Translator;
  readonly #embedder: () => QuestionEmbedder | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #text = "";

  constructor(translator: Translator, embedder: () => QuestionEmbedder | undefined) {
    this.#translator = translator;
    this.#embedder = embedder;
  }

  /** Checks the text of the question box. */
  check(text: string): void {
    this.#text = text.trim();
    clearTimeout(this.#timer);
    if (this.#text.length <= MAX_UNCOUNTED_LENGTH) this.root.replaceChildren();
    else this.#timer = setTimeout(() => void this.#count(), TYPING_PAUSE_MS);
  }

  async #count(): Promise<void> {
    const text = this.#text;
    // Tokens cannot be counted before the model is loaded.
    const tokens = await this.#embedder()
      ?.countTokens(text)
      .catch(() => undefined);
    if (tokens === undefined || text !== this.#text) return;
    if (tokens <= MAX_TOKENS) return this.root.replaceChildren();
    this.root.replaceChildren(
      element("p", { class: "too-long", "data-role": "too-long" }, tooLong(this.#translator, tokens)),
    );
  }
}

/** The warning for a question with so many tokens, or for an old one, whose tokens nobody has counted. */
export function tooLong(translator: Translator, tokens?: number): Translated {
  if (tokens === undefined) return translator.t("wasTooLong");
  return translator.t("tooLong", { percent: translator.number((MAX_TOKENS - 2) / (tokens - 2), { style: "percent" }) });
}

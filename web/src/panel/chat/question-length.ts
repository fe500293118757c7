import { MAX_TOKENS } from "@evidence-chat/embedder";
import { element } from "../../dom/element.js";
import type { Translator } from "../../dom/translator.js";
import type { QuestionEmbedder } from "../model/model-loader.js";

/** A shorter text never has more tokens than the model reads: its tokenizer makes four at most of a character. */
const SURELY_SHORT = (MAX_TOKENS - 2) / 4;

/** A pause in the typing, in milliseconds, after which the tokens are counted. */
const PAUSE = 150;

/** Warns, by the model's own tokenizer, when the end of a question would not count. */
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

  /** Looks at what is in the question box. */
  check(text: string): void {
    this.#text = text.trim();
    clearTimeout(this.#timer);
    if (this.#text.length <= SURELY_SHORT) this.root.replaceChildren();
    else this.#timer = setTimeout(() => void this.#count(), PAUSE);
  }

  async #count(): Promise<void> {
    const text = this.#text;
    // While the model loads nothing can be counted; the embedding itself tells later.
    const tokens = await this.#embedder()
      ?.countTokens(text)
      .catch(() => undefined);
    if (tokens === undefined || text !== this.#text) return;
    if (tokens <= MAX_TOKENS) return this.root.replaceChildren();
    const percent = this.#translator.number((MAX_TOKENS - 2) / (tokens - 2), { style: "percent" });
    this.root.replaceChildren(
      element("p", { class: "too-long", "data-role": "too-long" }, this.#translator.t("tooLong", { percent })),
    );
  }
}

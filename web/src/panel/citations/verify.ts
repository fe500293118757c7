import { onOneLine } from "../../client/text.js";
import type { Citation, Quote, Support } from "../../client/wire.js";
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";
import { findStatement } from "./pieces.js";
import { hasWords, shownWords, wholeWords } from "./quotes.js";

/**
 * Verifies a quote: the passage has its words at their place, and a sentence of the answer, as well as the quote's card, consists of all
 * its words and of what belongs to them, character by character. Only white space may differ, because lines are laid out differently. The passage itself, and the words
 * from around it that belong to the quote, come from the server and are not verified; nothing else from the server is trusted.
 */
export function isVerified(citation: Citation, quote: Quote, answer: string): boolean {
  const { text, pieces } = quote;
  const [words, shown] = [wholeWords(quote), shownWords(quote)];
  const own = pieces.flatMap((piece) => (piece.role === undefined ? piece.text : []));
  return (
    isVisible(citation, quote) &&
    onOneLine(own.join(" ")) === onOneLine(text) &&
    // Its pieces are in them.
    !hasHiddenCharacters(words) &&
    words.endsWith(shown) &&
    [answer, `${shown} [1]`].every((said) => findStatement(said, pieces, citation))
  );
}

/**
 * Verifies the source words of a generated sentence: the passage shows them at their place, without hidden characters.
 * The sentence itself has words of its own; the server checked that it follows from these.
 */
export function isSourceSentence(citation: Citation, support: Support): boolean {
  return isVisible(citation, support) && !hasHiddenCharacters(support.text);
}

/** Whether a passage has words at their place, and not only signs. */
function isVisible(citation: Citation, words: Quote | Support): boolean {
  return hasWords(citation, words) && /[\p{L}\p{N}]/u.test(words.text);
}

/**
 * Whether a text contains format control characters, which are invisible and may reorder or split words. Joiners are
 * allowed in scripts and emoji that need them.
 */
function hasHiddenCharacters(text: string): boolean {
  return /\p{Cf}/u.test(text.replace(JOINERS, ""));
}

const JOINERS =
  /(?<=(?![\p{sc=Latn}\p{sc=Cyrl}\p{sc=Grek}\p{sc=Hani}])\p{L}\p{M}*)[\u200c\u200d]|(?<=\p{ExtPict}[\ufe0f\p{EMod}]?)\u200d(?=\p{ExtPict})/gu;

/** The mark of a passage whose quotes, or whose words that support a generated answer, are all verified. */
export function verifiedMark(citation: Citation, answer: string, { t }: Translator): HTMLElement | undefined {
  const { quotes, supports = [] } = citation;
  if (quotes.length > 0) {
    if (!quotes.every((quote) => isVerified(citation, quote, answer))) return undefined;
    return element(
      "span",
      { class: "verified", title: t("verifiedQuoteHelp"), "data-role": "verified-quote" },
      icon(icons.check),
      t("verifiedQuote"),
    );
  }
  if (supports.length === 0 || !supports.every((support) => isSourceSentence(citation, support))) return undefined;
  return element(
    "span",
    { class: "verified source-sentence", title: t("sourceSentenceHelp"), "data-role": "source-sentence" },
    icon(icons.quote),
    t("sourceSentence"),
  );
}

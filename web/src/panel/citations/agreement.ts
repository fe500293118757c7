import type { Citation } from "../../client/wire.js";
import { byDocument } from "./documents.js";
import { shownWords, wholeWords } from "./quotes.js";
import { isVerified } from "./verify.js";

/** How many of the cited documents say the first sentence of the answer. */
export interface Agreement {
  readonly agreeing: number;
  readonly total: number;
}

/**
 * Counts the documents with a verified quote of the answer's first quoted sentence. Only case, white space and punctuation
 * may differ: one other word, number or sign may be a contradiction. `agreeing` is 0 if the answer has no verified quote.
 */
export function agreementOf(citations: readonly Citation[], answer: string): Agreement {
  const documents = byDocument(citations);
  const [first] = statements(citations, answer)
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  if (!first) return { agreeing: 0, total: documents.length };
  const agrees = (passages: readonly Citation[]) =>
    statements(passages, answer).some(({ said }) => said === first.said);
  return { agreeing: documents.filter(agrees).length, total: documents.length };
}

/** What a quote says, and its place in the answer; -1 if white space differs there. */
interface Statement {
  readonly at: number;
  readonly said: string;
}

/** The verified quotes of passages. */
function statements(citations: readonly Citation[], answer: string): Statement[] {
  return citations.flatMap((citation) =>
    citation.quotes
      .filter((quote) => isVerified(citation, quote, answer))
      .map((quote) => ({ at: answer.indexOf(shownWords(quote)), said: said(wholeWords(quote)) })),
  );
}

/** The words and signs of a text in lower case, with a space between them. */
function said(text: string): string {
  return (text.normalize("NFC").toLowerCase().match(WORD_OR_SIGN) ?? []).join(" ");
}

/** A word or number, or a sign that is not just punctuation: "€", "%", "-". */
const WORD_OR_SIGN =
  /[\p{L}\p{M}\p{N}]+(?:[.,:'’][\p{L}\p{M}\p{N}]+)*|[^\s\p{L}\p{M}\p{N}.,;:!?…"'“”„‘’«»()[\]、。，：；！？「」（）،؛؟]/gu;

// Hosts cut or reject long results, and every character is paid for by the agent's context. So results are bounded here, where the
// parts that matter less can be left out first.

/** Characters of the text of an answer or a passage. A quoted sentence has at most 4096. */
export const MAX_TEXT_CHARS = 16_000;
/** Characters of all excerpts of a result together. */
export const MAX_EXCERPT_CHARS = 24_000;
/** Passages that are only named. */
export const MAX_NEAR_PASSAGES = 5;

/** Gives out a number of characters to the excerpts of a result, in their order. */
export class ExcerptBudget {
  #left = MAX_EXCERPT_CHARS;
  /** Whether something was left out. */
  isExceeded = false;

  /**
   * The fields of the text if it fits.
   * @param {string | undefined} excerpt
   * @returns {{ excerpt?: string }}
   */
  take(excerpt) {
    if (excerpt === undefined) return {};
    if (excerpt.length > this.#left) {
      this.isExceeded = true;
      return {};
    }
    this.#left -= excerpt.length;
    return { excerpt };
  }
}

/** @param {string} text */
export function shorten(text) {
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()} …`;
}

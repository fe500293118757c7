// Finds sentences by their words: what the stand-in answers with. The product searches by meaning, too.

/**
 * @typedef {object} Passage
 * @property {string} title of the page
 * @property {string} section path of headings
 * @property {string} path below the root of the site, with the anchor
 * @property {string} text
 * @property {readonly (readonly [start: number, end: number])[]} sentences offsets into `text`
 * @typedef {{ passage: Passage, score: number, sentences: (readonly [number, number])[] }} Found
 */

const STOP_WORDS = new Set(
  "a about all an and any are as at be been but by can could do does for from get gets had happens has have how i if in into is it its many me much my need needs no not of on or our should so that the their them then there these they this to use uses was we what when where which who why will with would you your".split(
    " ",
  ),
);
/** Share of the question's weight that must be found. */
const ENOUGH = 0.55;
const MAX_PASSAGES = 2;
const MAX_SENTENCES = 3;

/** The words of a text that tell something, without their endings. */
export function wordsOf(/** @type {string} */ text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => !STOP_WORDS.has(word)).map(stem);
}

function stem(word) {
  if (word.length < 4) return word;
  return word
    .replace(/(ies)$/, "y")
    .replace(/(ing|ed|es|s)$/, "")
    .replace(/(.)\1$/, "$1")
    .replace(/e$/, "");
}

/** An index of passages. */
export class Search {
  #passages;
  #weights = new Map();

  constructor(/** @type {readonly Passage[]} */ passages) {
    this.#passages = passages.map((passage) => {
      const heads = wordsOf(`${passage.title} ${passage.section}`);
      const heading = new Set(wordsOf(passage.section.split(" › ").at(-1) || passage.title));
      return { passage, heading, heads: new Set(heads), words: countOf([...heads, ...wordsOf(passage.text)]) };
    });
    const frequencies = new Map();
    for (const { words } of this.#passages) {
      for (const word of words.keys()) frequencies.set(word, (frequencies.get(word) ?? 0) + 1);
    }
    for (const [word, count] of frequencies) this.#weights.set(word, Math.log(1 + passages.length / count));
  }

  /**
   * The best passages with their best sentences, or none if they say too little of the question.
   * @returns {{ answer: Found[], nearest: Passage[] }}
   */
  find(/** @type {string} */ question) {
    const wanted = [...new Set(wordsOf(question))];
    // A word that no page has weighs as much as the rarest.
    const unknown = Math.log(1 + this.#passages.length);
    const total = wanted.reduce((sum, word) => sum + (this.#weights.get(word) ?? unknown), 0);
    const ranked = this.#passages
      .map((entry) => ({ ...this.#bestSentences(entry, wanted), rank: this.#rank(entry, wanted) }))
      .filter(({ rank }) => rank > 0)
      .sort((a, b) => b.rank - a.rank)
      .slice(0, 8);
    const nearest = ranked.slice(0, 4).map(({ passage }) => passage);
    const good = ranked
      .map((found) => ({ ...found, score: total > 0 ? Math.min(found.covered / total, 1) : 0 }))
      .filter(({ score }) => score >= ENOUGH)
      // Sentences that say the words themselves come before those that only stand below a heading with them.
      .map((found) => ({ ...found, worth: found.score * found.rank * (0.5 + found.said / total) }))
      .sort((a, b) => b.worth - a.worth);
    const answer = good.filter(({ worth }) => worth > 0.75 * good[0].worth);
    return { answer: answer.slice(0, MAX_PASSAGES), nearest };
  }

  #rank({ heading, heads, words }, wanted) {
    const asked = wanted.filter((word) => heading.has(word));
    // A heading that is the question says that its section is the answer.
    const ofHeading = heading.size > 0 ? (2 * this.#sum(asked) * asked.length) / heading.size : 0;
    return wanted.reduce((sum, word) => {
      const count = words.get(word) ?? 0;
      const weight = this.#weights.get(word) ?? 0;
      return sum + weight * (count / (count + 1.2)) + (heads.has(word) ? 0.8 * weight : 0);
    }, ofHeading);
  }

  #bestSentences({ passage, heads }, wanted) {
    const scored = passage.sentences.map((range) => {
      const words = new Set(wordsOf(passage.text.slice(...range)));
      const found = wanted.filter((word) => words.has(word));
      return { range, found, score: this.#sum(found) / Math.sqrt(8 + words.size) };
    });
    const best = Math.max(...scored.map(({ score }) => score), 0);
    const chosen = scored
      .filter(({ score }) => score > 0 && score >= 0.6 * best)
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_SENTENCES);
    const found = new Set(chosen.flatMap((sentence) => sentence.found));
    const covered = this.#sum(wanted.filter((word) => found.has(word) || heads.has(word)));
    const sentences = chosen.map(({ range }) => range).sort((a, b) => a[0] - b[0]);
    return { passage, sentences, said: this.#sum([...found]), covered: chosen.length > 0 ? covered : 0 };
  }

  #sum(words) {
    return words.reduce((sum, word) => sum + (this.#weights.get(word) ?? 0), 0);
  }
}

function countOf(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

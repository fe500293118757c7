// A synthetic knowledge base of a given size, the same on every run: vectors in clusters, five sentences a chunk with
// vectors near their chunk's, headings that four chunks share, words by Zipf's law, and questions made of the words of a
// chunk and a vector near it.

export const DIMENSIONS = 384;
export const SENTENCES = 5;
const CHUNKS_PER_DOCUMENT = 20;
const CHUNKS_PER_HEADING = 4;
const WORDS_PER_SENTENCE = 20;
const CLUSTERS = 400;
const VOCABULARY = 50_000;
const QUESTION_WORDS = 8;
/** The most frequent words, which the text search leaves out. */
const STOP_WORDS = (
  "the of and to a in is that for it as was with be by on not he his but at are this have from or had an they which " +
  "you were her all she there would their we him been has when who will more no if out so what"
).split(" ");

// Lengths of the noise added to the unit vector of a cluster, chunk or question: cosines of about 0.7 between chunks of
// a cluster, 0.8 between a sentence and its chunk, 0.7 between a heading and the first chunk below it, 0.75 between a
// question and the chunk it was made from.
const CHUNK_NOISE = 0.65;
const SENTENCE_NOISE = 0.75;
const HEADING_NOISE = 1;
const QUESTION_NOISE = 0.9;

/**
 * @typedef {object} Chunk
 * @property {string} id
 * @property {string} documentId
 * @property {number} ordinal
 * @property {string} content
 * @property {Float32Array} vector
 * @property {Float32Array} heading vector of the heading above the chunk
 * @property {{ start: number, end: number, vector: Float32Array }[]} sentences offsets into content
 */

/**
 * The ids of the documents that `chunks` of the same size refers to.
 * @param {number} size number of chunks
 */
export function documentIds(size) {
  return Array.from({ length: Math.ceil(size / CHUNKS_PER_DOCUMENT) }, (_, index) => uuid("d", index));
}

/**
 * @param {number} size number of chunks
 * @returns {Generator<Chunk>}
 */
export function* chunks(size) {
  const random = createRandom(1);
  // A separate sequence, so that the rest of the corpus does not depend on the headings.
  const headingRandom = createRandom(2);
  const clusters = Array.from({ length: CLUSTERS }, () => near(random, new Float32Array(DIMENSIONS), 1));
  const words = createVocabulary(random);
  let heading = new Float32Array();
  for (let index = 0; index < size; index++) {
    const vector = near(random, clusters[Math.floor(random() * CLUSTERS)], CHUNK_NOISE);
    if (index % CHUNKS_PER_HEADING === 0) heading = near(headingRandom, vector, HEADING_NOISE);
    let content = "";
    const sentences = [];
    for (let sentence = 0; sentence < SENTENCES; sentence++) {
      const text = Array.from({ length: WORDS_PER_SENTENCE }, () => words.draw(random)).join(" ") + ".";
      if (sentence > 0) content += " ";
      const start = content.length;
      content += text;
      sentences.push({ start, end: content.length, vector: near(random, vector, SENTENCE_NOISE) });
    }
    yield {
      id: uuid("c", index),
      documentId: uuid("d", Math.floor(index / CHUNKS_PER_DOCUMENT)),
      ordinal: index % CHUNKS_PER_DOCUMENT,
      content,
      vector,
      heading,
      sentences,
    };
  }
}

/**
 * A question that the chunk answers: some of its words, common and rare, and a vector near that of the chunk.
 * @param {Chunk} chunk
 * @param {number} seed
 */
export function makeQuestion({ id, content, vector }, seed) {
  const random = createRandom(1000 + seed);
  const candidates = [...new Set(content.match(/\w+/g))].filter((word) => !STOP_WORDS.includes(word));
  const text = shuffle(random, candidates).slice(0, QUESTION_WORDS).join(" ");
  return { chunkId: id, text, vector: near(random, vector, QUESTION_NOISE) };
}

function createVocabulary(random) {
  const words = new Set(STOP_WORDS);
  while (words.size < VOCABULARY) words.add(makeWord(random));
  const list = [...words];
  const cumulative = new Float64Array(VOCABULARY);
  let total = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) cumulative[rank] = total += 1 / (rank + 1);
  return { draw: (random) => list[firstAbove(cumulative, random() * total)] };
}

function makeWord(random) {
  const letter = (letters) => letters[Math.floor(random() * letters.length)];
  const syllables = 2 + Math.floor(random() * 3);
  return Array.from({ length: syllables }, () => letter("bdfgklmnprstvz") + letter("aeiou") + letter("nrst")).join("");
}

function firstAbove(sorted, value) {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The unit vector along `center` + noise of about the given length. */
function near(random, center, length) {
  const vector = new Float32Array(DIMENSIONS);
  // Uniform in ±√3 has variance 1; in 384 dimensions its shape does not matter.
  const scale = (2 * Math.sqrt(3) * length) / Math.sqrt(DIMENSIONS);
  let squares = 0;
  for (let axis = 0; axis < DIMENSIONS; axis++) {
    const value = center[axis] + (random() - 0.5) * scale;
    vector[axis] = value;
    squares += value * value;
  }
  const norm = Math.sqrt(squares);
  return vector.map((value) => value / norm);
}

function shuffle(random, list) {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other], list[last]];
  }
  return list;
}

function uuid(kind, index) {
  const group = kind === "d" ? "000d" : "000c";
  // Scattered like random ids, so that neighbours in the corpus are not neighbours in the index.
  const head = (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  return `${head}-${group}-4000-8000-${index.toString(16).padStart(12, "0")}`;
}

/** mulberry32: small, fast and reproducible on every platform. */
function createRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

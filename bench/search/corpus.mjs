// A synthetic knowledge base of a given size, the same on every run: five sentences a chunk, words by Zipf's law, and questions made
// of the words of a chunk and a vector near it.
//
// The vectors have the neighbourhoods of real ones, because the recall and the time of an index depend on them. A passage is drawn as
// product + area + topic + document + section + itself, each from a normal distribution whose variances fall over the axes as the
// eigenvalues of real passages do (637 of govuk, covidfaq-en and squad of the retrieval bench). The shares were chosen with the
// documentation of CockroachDB and PowerShell, 9,000 passages each; that of Ansible (3,700), Rails (3,300) and all of these with the
// retrieval bench (27,000) were left out. All were cut by kb and embedded by all-MiniLM-L6-v2. Mean cosines of a passage and of a
// question with the nearest, 5th, 20th, 50th and 100th passage, and the intrinsic dimension that the distances to the 20 and the 100
// nearest passages suggest (Levina and Bickel, 2004):
//
//   passages, real           .82 .71 .61 .55 .50  10 13  CockroachDB and PowerShell
//   here, 9,000              .80 .67 .58 .51 .45  10 12
//   passages, real           .80 .71 .62 .57 .53  12 15  Ansible
//   passages, real           .76 .65 .57 .51 .46  13 15  Rails
//   here, 3,300              .79 .66 .57 .50 .43  11 11
//   passages, real           .81 .70 .60 .54 .49  11 14  all
//   here, 27,000             .81 .69 .61 .55 .49  11 12
//   questions, real          .65 .53 .45 .40 .36  19 21  all; headings of the documentation count as questions
//   here, 27,000             .60 .52 .46 .43 .40  25 27
//
// HNSW (hnswlib, m = 16, ef_construction = 64) finds as much here as in other passages of these documentations, cut by another program:
// of the five nearest of 22,700, 50, 100, 200 and 400 candidates find .94, .97, .99 and .99 there, and .94, .97, .99 and 1 here. The axes
// are not rotated, because HNSW does not depend on their direction; an index of signs does.
//
// Documents come in the order of their paths, and areas are folders: in five real documentations, neighbours by path have .15 to .5 of
// what passages of one document have in common more than those of any two; here .35. A corpus in random order is searched as fast.

export const DIMENSIONS = 384;
export const SENTENCES = 5;
const CHUNKS_PER_DOCUMENT = 20;
const CHUNKS_PER_HEADING = 4;
const WORDS_PER_SENTENCE = 20;
const VOCABULARY = 50_000;
const QUESTION_WORDS = 8;
/** The most frequent words, most of which the text search leaves out. */
const STOP_WORDS = (
  "the of and to a in is that for it as was with be by on not he his but at are this have from or had an they which " +
  "you were her all she there would their we him been has when who will more no if out so what"
).split(" ");

const CHUNKS_PER_TOPIC = 100;
const TOPICS_PER_AREA = 10;
const TOPICS_PER_PRODUCT = 100;
const DOCUMENTS_PER_PRODUCT = (TOPICS_PER_PRODUCT * CHUNKS_PER_TOPIC) / CHUNKS_PER_DOCUMENT;
/** Share of the documents that are in the folder of another area of their product. */
const MISPLACED_DOCUMENTS = 0.2;
/** Of these documents one is restricted, to one of the teams in turn. */
const DOCUMENTS_PER_RESTRICTED = 10;
const TEAMS = 20;
const COLLECTIONS = 8;

/** Shares of the variance of a passage's vector. */
const SHARES = { product: 0.1, area: 0.18, topic: 0.22, document: 0.12, section: 0.16, chunk: 0.22 };
const SENTENCE_COSINE = 0.69;
const HEADING_COSINE = 0.6;
const QUESTION_COSINES = { least: 0.4, most: 0.75 };
/** Of what a question says besides its passage, the share that is about the subject of the passage. */
const QUESTION_SUBJECT_SHARE = 0.2;
/** Fits the eigenvalues of the covariance of real passages within a third up to axis 200. */
const VARIANCES = normalized(
  Array.from({ length: DIMENSIONS }, (_, axis) => (axis + 1) ** -0.7 * Math.exp(-axis / 150)),
);
/** What tells passages of a document, and sentences of a passage, apart spreads over a few more axes. */
const FINE_VARIANCES = normalized(VARIANCES.map((variance) => variance ** 0.8));

/**
 * @typedef {object} Chunk
 * @property {string} id
 * @property {string} documentId
 * @property {string[] | null} audience
 * @property {string} collection
 * @property {number} ordinal
 * @property {string} content
 * @property {Float32Array} vector
 * @property {Float32Array} subject what the vector shares with its section, document, topic, area and product
 * @property {Float32Array} heading vector of the heading above the chunk
 * @property {{ start: number, end: number, vector: Float32Array }[]} sentences offsets into content
 */

/**
 * The documents that `chunks` of the same size refers to.
 * @param {number} size number of chunks
 */
export function documents(size) {
  return Array.from({ length: Math.ceil(size / CHUNKS_PER_DOCUMENT) }, (_, index) => createDocument(index));
}

function createDocument(index) {
  const isRestricted = index % DOCUMENTS_PER_RESTRICTED === DOCUMENTS_PER_RESTRICTED - 1;
  return {
    id: uuid("d", index),
    collection: `site-${Math.floor(index / DOCUMENTS_PER_PRODUCT) % COLLECTIONS}`,
    audience: isRestricted ? [`team:${Math.floor(index / DOCUMENTS_PER_RESTRICTED) % TEAMS}`] : null,
  };
}

/**
 * @param {number} size number of chunks
 * @returns {Generator<Chunk>}
 */
export function* chunks(size) {
  const random = createRandom(1);
  const normal = createNormal(createRandom(2));
  const topics = createTopics(Math.ceil(size / CHUNKS_PER_TOPIC), normal);
  const words = createVocabulary(createRandom(3));
  let document = createDocument(0);
  let topic = topics[0];
  let documentPart = topic;
  let subject = topic;
  let heading = topic;
  for (let index = 0; index < size; index++) {
    if (index % CHUNKS_PER_DOCUMENT === 0) {
      document = createDocument(index / CHUNKS_PER_DOCUMENT);
      topic = topics[drawTopic(random, Math.floor(index / CHUNKS_PER_TOPIC), topics.length)];
      documentPart = normal(VARIANCES);
    }
    const isFirstOfSection = index % CHUNKS_PER_HEADING === 0;
    if (isFirstOfSection) {
      subject = weighted([
        [1, topic],
        [SHARES.document, documentPart],
        [SHARES.section, normal(FINE_VARIANCES)],
      ]);
    }
    const vector = unit(
      weighted([
        [1, subject],
        [SHARES.chunk, normal(FINE_VARIANCES)],
      ]),
    );
    if (isFirstOfSection) heading = near(vector, HEADING_COSINE, normal(FINE_VARIANCES));
    let content = "";
    const sentences = [];
    for (let sentence = 0; sentence < SENTENCES; sentence++) {
      const text = Array.from({ length: WORDS_PER_SENTENCE }, () => words.draw(random)).join(" ") + ".";
      if (sentence > 0) content += " ";
      const start = content.length;
      content += text;
      sentences.push({ start, end: content.length, vector: near(vector, SENTENCE_COSINE, normal(FINE_VARIANCES)) });
    }
    yield {
      id: uuid("c", index),
      documentId: document.id,
      audience: document.audience,
      collection: document.collection,
      ordinal: index % CHUNKS_PER_DOCUMENT,
      content,
      vector,
      subject,
      heading,
      sentences,
    };
  }
}

/** What the passages of each topic have in common, in the order of areas and products. */
function createTopics(count, normal) {
  let areaPart;
  let productPart;
  return Array.from({ length: count }, (_, topic) => {
    if (topic % TOPICS_PER_PRODUCT === 0) productPart = normal(VARIANCES);
    if (topic % TOPICS_PER_AREA === 0) areaPart = normal(VARIANCES);
    return weighted([
      [SHARES.product, productPart],
      [SHARES.area, areaPart],
      [SHARES.topic, normal(VARIANCES)],
    ]);
  });
}

/** A topic of the same area as `place`, or of the same product. */
function drawTopic(random, place, count) {
  const group = random() < MISPLACED_DOCUMENTS ? TOPICS_PER_PRODUCT : TOPICS_PER_AREA;
  const first = place - (place % group);
  return first + Math.floor(random() * Math.min(group, count - first));
}

/**
 * A question that the chunk answers: some of its words, common and rare, and a vector near that of the chunk.
 * @param {Chunk} chunk
 * @param {number} seed
 */
export function makeQuestion({ id, content, vector, subject }, seed) {
  const random = createRandom(1000 + seed);
  const candidates = [...new Set(content.match(/\w+/g))].filter((word) => !STOP_WORDS.includes(word));
  const text = shuffle(random, candidates).slice(0, QUESTION_WORDS).join(" ");
  const cosine = QUESTION_COSINES.least + random() * (QUESTION_COSINES.most - QUESTION_COSINES.least);
  const rest = weighted([
    [QUESTION_SUBJECT_SHARE, unit(subject)],
    [1 - QUESTION_SUBJECT_SHARE, createNormal(random, 1 << 12)(VARIANCES)],
  ]);
  return { chunkId: id, text, vector: near(vector, cosine, unit(withoutPartAlong(vector, rest))) };
}

/** A question of words that a large part of the chunks contain, as in "What is the best way to get the work done?" */
export function commonWords() {
  const words = createVocabulary(createRandom(3)).list;
  return words.slice(STOP_WORDS.length, STOP_WORDS.length + 6).join(" ");
}

function createVocabulary(random) {
  const words = new Set(STOP_WORDS);
  while (words.size < VOCABULARY) words.add(makeWord(random));
  const list = [...words];
  const cumulative = new Float64Array(VOCABULARY);
  let total = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) cumulative[rank] = total += 1 / (rank + 1);
  return { list, draw: (random) => list[firstAbove(cumulative, random() * total)] };
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

/**
 * Returns a function that draws a vector with these variances. The numbers come from a pool, from a random place on, which is many
 * times faster than drawing each: the variances differ from axis to axis, so vectors that share a part of the pool are still
 * independent.
 */
function createNormal(random, poolSize = 1 << 22) {
  const pool = new Float32Array(poolSize);
  for (let index = 0; index < poolSize; index += 2) {
    // Box-Muller.
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    const angle = 2 * Math.PI * random();
    pool[index] = radius * Math.cos(angle);
    pool[index + 1] = radius * Math.sin(angle);
  }
  const deviations = new Map();
  return (/** @type {number[]} */ variances) => {
    if (!deviations.has(variances)) deviations.set(variances, Float32Array.from(variances, Math.sqrt));
    const scale = deviations.get(variances);
    const start = Math.floor(random() * (poolSize - DIMENSIONS));
    const vector = new Float32Array(DIMENSIONS);
    for (let axis = 0; axis < DIMENSIONS; axis++) vector[axis] = pool[start + axis] * scale[axis];
    return vector;
  };
}

/** The sum of independent parts with these shares of its variance. */
function weighted(/** @type {[number, Float32Array][]} */ parts) {
  const vector = new Float32Array(DIMENSIONS);
  for (const [share, part] of parts) {
    const weight = Math.sqrt(share);
    for (let axis = 0; axis < DIMENSIONS; axis++) vector[axis] += weight * part[axis];
  }
  return vector;
}

function unit(vector) {
  const scale = 1 / Math.sqrt(product(vector, vector));
  return vector.map((value) => value * scale);
}

/** The part of `vector` at a right angle to the unit vector `direction`. */
function withoutPartAlong(direction, vector) {
  const length = product(vector, direction);
  return vector.map((value, axis) => value - length * direction[axis]);
}

function product(first, second) {
  let sum = 0;
  for (let axis = 0; axis < DIMENSIONS; axis++) sum += first[axis] * second[axis];
  return sum;
}

/** A unit vector with about this cosine with the unit vector `center`. */
function near(center, cosine, noise) {
  return unit(
    weighted([
      [cosine ** 2, center],
      [1 - cosine ** 2, noise],
    ]),
  );
}

function normalized(/** @type {number[]} */ variances) {
  const total = variances.reduce((sum, variance) => sum + variance, 0);
  return variances.map((variance) => variance / total);
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

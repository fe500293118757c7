// How far an index of one bit a dimension would have to look: the share of the five nearest passages of a question that are among
// the N nearest by Hamming distance. This is what such an index could reach at best, if it found all N.
//
//   node bench/search/binary.mjs --sizes 100000
import { parseArgs } from "node:util";
import { DIMENSIONS, chunks } from "./corpus.mjs";
import { createCollector } from "./tables.mjs";

const QUESTIONS = 100;
const BEST = 5;
const CANDIDATES = [100, 200, 400, 800, 1600];
const WORDS = DIMENSIONS / 32;
/** Blocks of the Walsh-Hadamard transform, whose length must be a power of two. */
const BLOCK = 128;

const { values } = parseArgs({ options: { sizes: { type: "string", default: "100000" } } });
const sizes = values.sizes.split(",").map(Number).map(measure);
console.log(JSON.stringify({ sizes }, null, 2));

function measure(size) {
  const vectors = new Float32Array(size * DIMENSIONS);
  const bits = new Uint32Array(size * WORDS);
  const collect = createCollector(size, QUESTIONS);
  let count = 0;
  for (const chunk of chunks(size)) {
    collect(chunk);
    if (chunk.audience !== null) continue;
    vectors.set(chunk.vector, count * DIMENSIONS);
    bits.set(signs(rotated(chunk.vector)), count * WORDS);
    count++;
  }
  const found = CANDIDATES.map(() => 0);
  for (const question of collect()) {
    const vector = Float32Array.from(JSON.parse(question.vector));
    const distances = hammingDistances(bits, count, signs(rotated(vector)));
    for (const passage of nearest(vectors, count, vector)) {
      const rank = distances.reduce((closer, distance) => closer + Number(distance < distances[passage]), 0);
      for (const [index, candidates] of CANDIDATES.entries()) found[index] += Number(rank < candidates);
    }
  }
  const share = (index) => Number((found[index] / (QUESTIONS * BEST)).toFixed(4));
  return { chunks: size, found: Object.fromEntries(CANDIDATES.map((candidates, index) => [candidates, share(index)])) };
}

/** The vectors with the largest inner products, which are cosines. */
function nearest(vectors, count, question) {
  const products = new Float32Array(count);
  for (let passage = 0; passage < count; passage++) {
    let product = 0;
    const start = passage * DIMENSIONS;
    for (let axis = 0; axis < DIMENSIONS; axis++) product += vectors[start + axis] * question[axis];
    products[passage] = product;
  }
  const least = products.toSorted()[count - BEST];
  return [...products.keys()].filter((passage) => products[passage] >= least).slice(0, BEST);
}

function hammingDistances(bits, count, question) {
  const distances = new Uint16Array(count);
  for (let passage = 0; passage < count; passage++) {
    let distance = 0;
    for (let word = 0; word < WORDS; word++) distance += ones(bits[passage * WORDS + word] ^ question[word]);
    distances[passage] = distance;
  }
  return distances;
}

function ones(word) {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function signs(vector) {
  const words = new Uint32Array(WORDS);
  for (let axis = 0; axis < DIMENSIONS; axis++) if (vector[axis] > 0) words[axis >> 5] |= 1 << (axis & 31);
  return words;
}

/**
 * The corpus has axes that differ in variance, real embeddings do not, and one bit an axis suits the latter. A rotation makes all
 * axes alike: twice a change of signs and a Walsh-Hadamard transform of each block, with the blocks interleaved in between.
 */
function rotated(vector) {
  let values = Float32Array.from(vector);
  for (let round = 0; round < 2; round++) {
    values = values.map((value, axis) =>
      Math.imul(axis + 1, round ? 0x9e3779b1 : 0x85ebca6b) & 0x10000 ? -value : value,
    );
    for (let start = 0; start < DIMENSIONS; start += BLOCK) transform(values.subarray(start, start + BLOCK));
    values = values.map(
      (_, axis) => values[(axis % (DIMENSIONS / BLOCK)) * BLOCK + Math.floor(axis / (DIMENSIONS / BLOCK))],
    );
  }
  return values;
}

/** The Walsh-Hadamard transform, in place and without the factor, which does not change signs. */
function transform(values) {
  for (let half = 1; half < values.length; half *= 2) {
    for (let start = 0; start < values.length; start += 2 * half) {
      for (let index = start; index < start + half; index++) {
        const [left, right] = [values[index], values[index + half]];
        values[index] = left + right;
        values[index + half] = left - right;
      }
    }
  }
}

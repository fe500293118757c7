/**
 * Pseudo-random numbers (mulberry32), the same for the same seed.
 * @param {number} seed a whole number
 */
export function createRandom(seed) {
  let state = seed >>> 0;
  /** A number from 0 (inclusive) to 1 (exclusive). */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** A number between two others. */
  const between = (from, to) => from + next() * (to - from);
  return {
    between,
    /** One of the choices; each has the chance of its weight. */
    pick(/** @type {Record<string, number>} */ weights) {
      const choices = Object.entries(weights);
      let left = next() * choices.reduce((sum, [, weight]) => sum + weight, 0);
      return (choices.find(([, weight]) => (left -= weight) < 0) ?? choices[choices.length - 1])[0];
    },
    /** A generator of its own, so that what one part draws does not depend on the timing of another. */
    fork: () => createRandom(Math.floor(next() * 2 ** 32)),
  };
}

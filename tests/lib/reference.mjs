// The reference set: texts with the token ids and vectors of sentence-transformers. It stands beside the checkout.
import { readFile } from "node:fs/promises";

const REFERENCE = new URL("../../../shared/bench-peer/reference.json", import.meta.url);

/** The items, or null with a reason to skip where the set is not there. */
export async function referenceItems() {
  try {
    return { items: JSON.parse(await readFile(REFERENCE, "utf8")).items };
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
    return { items: null, reason: "no reference set at ../shared/bench-peer/reference.json" };
  }
}

/** Cosine similarity of two vectors, in double precision. */
export function cosine(a, b) {
  let dot = 0,
    aa = 0,
    bb = 0;
  for (let i = 0; i < a.length; i++) {
    dot += a[i] * b[i];
    aa += a[i] * a[i];
    bb += b[i] * b[i];
  }
  return dot / Math.sqrt(aa * bb);
}

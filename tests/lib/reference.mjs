// The reference set of the embedder: texts with the token ids and vectors of sentence-transformers.
import { readFile } from "node:fs/promises";

const REFERENCE = new URL("../../embedder-wasm/tests/reference.json", import.meta.url);

/** Texts with `ids`, `untruncated_len` and `embedding`. */
export async function referenceItems() {
  const { items } = JSON.parse(await readFile(REFERENCE, "utf8"));
  return items;
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

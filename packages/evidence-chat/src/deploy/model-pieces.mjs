// Model and reader in pieces. Cloudflare's static assets ignore the header `Range`, so they are there a second time, and a download that
// was cut continues with the piece that it needs (embedder-wasm/npm/src/loading/pieces.ts).
import { readFile, writeFile } from "node:fs/promises";

/** What a cut costs a visitor at most. `_headers` tells it to browsers. */
export const PIECE_BYTES = 1024 * 1024;

/** Writes FILE.piece0, FILE.piece1 and so on. */
export async function cutIntoPieces(/** @type {string} */ file) {
  const content = await readFile(file);
  for (let start = 0; start < content.length; start += PIECE_BYTES) {
    await writeFile(`${file}.piece${start / PIECE_BYTES}`, content.subarray(start, start + PIECE_BYTES));
  }
}

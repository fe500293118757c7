// Model and reader in pieces. Cloudflare's static assets ignore the header `Range`, so both files are served in pieces as well, and an
// interrupted download continues with the next piece (embedder-wasm/npm/src/loading/pieces.ts).
import { readFile, writeFile } from "node:fs/promises";

/** Size of a piece: an interrupted download loads at most one piece again. `_headers` tells browsers. */
export const PIECE_BYTES = 1024 * 1024;

/** Writes FILE.piece0, FILE.piece1 and so on. */
export async function cutIntoPieces(/** @type {string} */ file) {
  const content = await readFile(file);
  for (let start = 0; start < content.length; start += PIECE_BYTES) {
    await writeFile(`${file}.piece${start / PIECE_BYTES}`, content.subarray(start, start + PIECE_BYTES));
  }
}

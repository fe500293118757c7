import { withoutQuery } from "./http.js";

/**
 * The response header of a file that the host also serves in pieces, `FILE.piece0`, `FILE.piece1` and so on: their length in
 * bytes. For hosts without ranges, such as Cloudflare's static assets.
 */
const HEADER = "evidence-chat-piece-bytes";

/** Length of the pieces that the host serves of this file; 0 if it serves none. */
export function pieceBytesOf({ headers }: Response): number {
  const bytes = Number(headers.get(HEADER));
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : 0;
}

/** The piece that contains a byte. */
export interface Piece {
  readonly url: string;
  /** Bytes of the piece before that byte. */
  readonly skip: number;
  /** Position in the file of the first byte after the piece. */
  readonly end: number;
}

/** The piece with the byte at `position` of a file of `byteLength` bytes. */
export function pieceAt(position: number, url: string, pieceBytes: number, byteLength: number): Piece {
  const index = Math.floor(position / pieceBytes);
  const start = index * pieceBytes;
  const file = withoutQuery(url);
  return {
    url: `${file}.piece${index}${url.slice(file.length)}`,
    skip: position - start,
    end: Math.min(start + pieceBytes, byteLength),
  };
}

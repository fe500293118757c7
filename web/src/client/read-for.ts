import type { EmbeddedQuestion } from "./embed-question.js";
import { optional } from "./json.js";
import { type ChatClientOptions, withTimeout } from "./request.js";
import { searchStatements } from "./search.js";
import type { PassageStatements, Reading, StatementsRequest } from "./wire.js";

/** The longest that a question waits for its reading, in milliseconds. */
export const MAX_READING_MS = 600;
/** The server rejects other numbers. */
const MAX_Z = 100;

/** Reads passages; the embedder of `@evidence-chat/embedder`. */
export interface PassageReader {
  readonly readerFingerprint: string;
  readPassages(
    question: string,
    passages: readonly Pick<PassageStatements, "heading" | "statements">[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<(number | null)[][]>;
}

/**
 * Reads the passages that the server finds for a question. Gives the `reading` of its request, without passages
 * if there is nothing to read. `undefined` if anything fails, or after 600 ms; then search and reading are aborted. Never rejects. Load the reader
 * before, or its loading is part of that time.
 */
export async function readFor(
  { message, embedding, model, previous }: EmbeddedQuestion["fields"],
  reader: PassageReader,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<Reading | undefined> {
  const request = { query: message, embedding, model, ...optional("previous", previous) };
  const ended = new AbortController();
  try {
    return await withTimeout(MAX_READING_MS, read(request, reader, options, ended.signal), signal);
  } catch {
    return undefined;
  } finally {
    ended.abort();
  }
}

async function read(
  request: StatementsRequest,
  reader: PassageReader,
  options: ChatClientOptions,
  signal: AbortSignal,
): Promise<Reading | undefined> {
  const { question, passages } = await searchStatements(request, options, signal);
  if (passages.length === 0) return { reader: reader.readerFingerprint, passages: [] };
  const scores = await reader.readPassages(question, passages, { signal });
  const read = passages.flatMap(({ chunk_id, hash, statements }, index) => {
    const z = scores[index]?.map(rounded);
    return z?.length === statements.length ? [{ chunk_id, hash, z }] : [];
  });
  return read.length > 0 ? { reader: reader.readerFingerprint, passages: read } : undefined;
}

/** Two decimals are enough. */
function rounded(z: number | null): number | null {
  return z === null || Number.isNaN(z) ? null : Math.round(Math.max(-MAX_Z, Math.min(MAX_Z, z)) * 100) / 100;
}

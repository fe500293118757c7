// The largest responses of Supabase that a user can make the Worker read: search results and pages of the history.

/** Limits of the database and of the Worker; see `chat-core` and the check constraints of `supabase/migrations/`. */
const MATCH_COUNT = 50;
const PASSAGE_BYTES = 4096;
const META_BYTES = 8192;
const SENTENCES = 256;
const MESSAGE_CHARS = 100_000;
const CITATIONS_BYTES = 250_000;
const SEARCH_BYTES = 8 * 2 ** 20;

const SESSION = "5e551011-0000-4000-8000-000000000001";

const LARGEST_SEARCH = { name: "search", message: "The largest rows?" };
const SEARCH_BEYOND_LIMITS = { name: "search beyond the limits", message: "Rows that are too large?" };

/** The kinds of requests: a path to read, or a message to ask, for which the stand-in returns rows of `largestRows`. */
export const LARGEST = [
  { name: "history", path: `/api/sessions/${SESSION}/messages?limit=200` },
  LARGEST_SEARCH,
  SEARCH_BEYOND_LIMITS,
];

/**
 * The rows of `match_chunks` for the messages above.
 * @param {object} row of a real search, used as a template
 * @returns {[string, object[]][]}
 */
export function largestRows(row) {
  return [
    [LARGEST_SEARCH.message, makeRows(row, PASSAGE_BYTES)],
    [
      SEARCH_BEYOND_LIMITS.message,
      makeRows(row, Math.floor(SEARCH_BYTES / MATCH_COUNT) - 3 * META_BYTES - 100 * SENTENCES),
    ],
  ];
}

function makeRows(row, bytes) {
  const sentence = 'A "sentence" of the largest rows. ';
  const content = sentence.repeat(bytes / sentence.length);
  const count = Math.min(SENTENCES, content.length / sentence.length);
  const sentences = Array.from({ length: count }, (_, n) => ({
    start: n * sentence.length,
    end: (n + 1) * sentence.length - 1,
    similarity: 0.9,
  }));
  const meta = { padding: "x".repeat(META_BYTES - 100) };
  return Array.from({ length: MATCH_COUNT }, (_, n) => ({
    ...row,
    chunk_id: makeId(1, n),
    document_id: makeId(2, n),
    content,
    sentences,
    similarity: 0.9,
    meta: { ...row.meta, ...meta },
    document_meta: { ...row.document_meta, ...meta },
  }));
}

/** Messages of a session, each as large as the database allows. */
export function largestMessages(limit) {
  const excerpt = "x".repeat(CITATIONS_BYTES);
  const citation = {
    index: 1,
    chunk_id: makeId(1, 0),
    document_id: makeId(2, 0),
    title: "Largest",
    score: 0.9,
    strength: "strong",
    excerpt,
    quotes: [
      { start: 0, end: 10, text: excerpt.slice(0, 10), kind: "sentence", pieces: [{ text: excerpt.slice(0, 10) }] },
    ],
  };
  return Array.from({ length: limit }, (_, n) => ({
    id: makeId(3, n),
    role: "assistant",
    content: "x".repeat(MESSAGE_CHARS),
    citations: [citation],
    created_at: `2026-01-01T00:00:00.${String(n).padStart(6, "0")}+00:00`,
    refusal: null,
    hedged: false,
    mode: "extractive",
  }));
}

const makeId = (kind, number) => `${String(kind).padStart(8, "0")}-0000-4000-8000-${String(number).padStart(12, "0")}`;

/** Dimensions of the embeddings in this project. */
const DIMENSIONS = 384;

/** A list of numbers as the value of a name. Bodies of megabytes usually have none and need not be parsed twice. */
const NUMBER_LIST = /":\s*\[\s*-?\d/;

/**
 * Rewrites embeddings given as JSON arrays to pgvector's text form. PostgREST accepts both, Supabase Lite only the text.
 * @param {string} body JSON of a REST request: one object, or an array of rows
 * @returns {string} the same JSON with embeddings as strings; anything else unchanged
 */
export function withVectorLiterals(body) {
  if (!NUMBER_LIST.test(body)) return body;
  let value;
  try {
    value = JSON.parse(body);
  } catch {
    return body;
  }
  return JSON.stringify(Array.isArray(value) ? value.map(convertRow) : convertRow(value));
}

function convertRow(row) {
  if (row === null || typeof row !== "object" || Array.isArray(row)) return row;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isEmbedding(value) ? JSON.stringify(value) : value]),
  );
}

function isEmbedding(value) {
  return Array.isArray(value) && value.length === DIMENSIONS && value.every((item) => typeof item === "number");
}

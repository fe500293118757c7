/** Dimensions of the embeddings in this project. */
const DIMENSIONS = 384;

/** Matches a list of numbers as the value of a property. Large bodies usually have none, and are then not parsed here. */
const NUMBER_LIST = /":\s*\[\s*-?\d/;

/**
 * Rewrites embeddings given as JSON arrays to pgvector's text form. PostgREST accepts both, Supabase Lite only the text.
 * @param {string} body JSON of a REST request: one object, or an array of rows
 * @returns {string} the same JSON with embeddings as strings, or a body that is not JSON unchanged
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

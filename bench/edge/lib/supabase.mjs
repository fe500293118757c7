// Direct access of the bench to the local Supabase.
import { setting } from "./settings.mjs";

/** Rows per request. */
const PAGE = 1000;

/**
 * Signs a new user up.
 * @returns {Promise<{ id: string, token: string }>}
 */
export async function signUp() {
  const { user, access_token: token } = await call("POST", "auth/v1/signup", setting("SUPABASE_PUBLISHABLE_KEY"), {
    email: `${crypto.randomUUID()}@example.com`,
    password: crypto.randomUUID(),
  });
  return { id: user.id, token };
}

/** The rows of `match_chunks`, called as the Worker does, without the limit for calls that bypass it. */
export function matchChunks(token, { vector, text }) {
  const body = { query_embedding: JSON.stringify(vector), match_count: 5, match_threshold: -1, query_text: text };
  const headers = { "x-evidence-chat-worker": setting("WORKER_SECRET") };
  return call("POST", "rest/v1/rpc/match_chunks", setting("SUPABASE_PUBLISHABLE_KEY"), body, token, headers);
}

/**
 * All rows of a table, of all owners.
 * @param {string} table
 * @param {string[]} columns
 * @param {string} order columns that are unique together
 */
export async function allRows(table, columns, order) {
  const key = setting("SUPABASE_SECRET_KEY");
  const rows = [];
  for (;;) {
    const query = `select=${columns.join()}&order=${order}&limit=${PAGE}&offset=${rows.length}`;
    const page = await call("GET", `rest/v1/${table}?${query}`, key, undefined, key);
    rows.push(...page);
    if (page.length < PAGE) return rows;
  }
}

/** Sets who writes the answers of the assistant. */
export async function setAnswerMode(mode) {
  const key = setting("SUPABASE_SECRET_KEY");
  const prefer = { prefer: "return=representation" };
  await call("PATCH", "rest/v1/assistants?name=eq.default", key, { answer_mode: mode }, key, prefer);
}

async function call(method, path, apikey, body, token, headers = {}) {
  const response = await fetch(`${setting("SUPABASE_URL")}/${path}`, {
    method,
    headers: {
      apikey,
      "content-type": "application/json",
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

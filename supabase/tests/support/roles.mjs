// Acting as a role of the API, the way PostgREST does: the role and the verified token's claims, for one transaction.

export const ANON = { role: "anon" };
export const SERVICE = { role: "service_role", claims: { role: "service_role" } };

/**
 * A signed-in user.
 * @param {string} id
 * @param {object} [claims] of the token, beside sub and role; `app_metadata` among them
 */
export function user(id, claims = {}) {
  return { role: "authenticated", claims: { role: "authenticated", sub: id, ...claims } };
}

/**
 * Runs `body` as somebody and takes back whatever it wrote.
 * @template T
 * @param {import("@electric-sql/pglite").PGlite} database or a session on native Postgres
 * @param {{ role: string, claims?: object | string }} who claims as text are passed on as they are
 * @param {(transaction: { query: (sql: string, parameters?: unknown[]) => Promise<{ rows: object[] }> }) => Promise<T>} body
 * @returns {Promise<T>}
 */
export async function as(database, who, body) {
  return database.transaction(async (transaction) => {
    await become(transaction, who);
    const result = await body(transaction);
    await transaction.rollback();
    return result;
  });
}

/** Makes the rest of a transaction run as somebody. */
export async function become(transaction, { role, claims }) {
  const isText = typeof claims === "string";
  const text = isText ? claims : JSON.stringify(claims ?? {});
  // Supabase Lite's auth.uid reads a setting of its own, as old projects' did.
  const settings = { role, "request.jwt.claims": text, "request.jwt.claim.sub": (!isText && claims?.sub) || "" };
  for (const [name, value] of Object.entries(settings)) {
    await transaction.query("select set_config($1, $2, true)", [name, value]);
  }
}

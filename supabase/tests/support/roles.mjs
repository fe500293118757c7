// Runs statements as a role of the API. Like PostgREST, it sets the role and the claims of the verified token for one transaction.

/** @typedef {{ role: string, claims?: Record<string, any> | string }} Caller claims given as text are sent unchanged */

/** A request without a token. */
export const ANON = { role: "anon", claims: { role: "anon" } };
export const SERVICE = { role: "service_role", claims: { role: "service_role" } };

/**
 * A signed-in user.
 * @param {string} id
 * @param {object} [claims] of the token in addition to sub and role; may include `app_metadata`
 */
export function user(id, claims = {}) {
  return { role: "authenticated", claims: { role: "authenticated", sub: id, ...claims } };
}

/**
 * Runs `body` as a caller and rolls back what it wrote.
 * @template T
 * @param {import("../../../local/supabase/migrations.mjs").Database} database
 * @param {Caller} who
 * @param {(transaction: import("../../../local/supabase/migrations.mjs").Transaction) => Promise<T>} body
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

/**
 * Makes the rest of a transaction run as a caller.
 * @param {Pick<import("../../../local/supabase/migrations.mjs").Transaction, "query">} transaction
 * @param {Caller} who
 */
export async function become(transaction, { role, claims }) {
  const isText = typeof claims === "string";
  const text = isText ? claims : JSON.stringify(claims ?? {});
  // Supabase Lite's auth.uid reads a separate setting, like that of old projects.
  const settings = {
    role,
    "request.jwt.claims": text,
    "request.jwt.claim.sub": (typeof claims === "object" && claims.sub) || "",
  };
  for (const [name, value] of Object.entries(settings)) {
    await transaction.query("select set_config($1, $2, true)", [name, value]);
  }
}

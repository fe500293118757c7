// Acting as a role of the API, the way PostgREST does: the role and the verified token's claims, for one transaction.

/** @typedef {{ role: string, claims?: Record<string, any> | string }} Somebody claims as text are sent unchanged */

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
 * @param {import("../../local/src/migrations.mjs").Database} database
 * @param {Somebody} who
 * @param {(transaction: import("../../local/src/migrations.mjs").Transaction) => Promise<T>} body
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
 * Makes the rest of a transaction run as somebody.
 * @param {Pick<import("../../local/src/migrations.mjs").Transaction, "query">} transaction
 * @param {Somebody} who
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

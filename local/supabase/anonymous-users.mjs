// Anonymous sign-ins, which Supabase Lite does not have. A sign-up without e-mail and phone becomes one with a random address, and
// its user is made anonymous afterwards, so that sessions, refresh tokens and sign-out are those of Supabase Lite.
import { randomUUID } from "node:crypto";

/**
 * @param {(sql: string, parameters: unknown[]) => Promise<{ rows: any[] }>} query runs a statement apart from all requests
 */
export function createAnonymousUsers(query) {
  /**
   * Answers a sign-up that names no user, as Supabase Auth does. Null for any other request.
   * @param {Request} request
   * @param {(request: Request) => Promise<Response>} forward
   * @returns {Promise<Response | null>}
   */
  async function answer(request, forward) {
    if (request.method !== "POST" || new URL(request.url).pathname !== "/auth/v1/signup") return null;
    const body = await request
      .clone()
      .json()
      .catch(() => null);
    if (typeof body !== "object" || body === null || Array.isArray(body)) return null;
    if (body.email || body.phone) return null;
    const credentials = { email: `${randomUUID()}@anonymous.invalid`, password: randomUUID() };
    const signUp = { ...body, ...credentials };
    const response = await forward(
      new Request(request.url, { method: "POST", headers: request.headers, body: JSON.stringify(signUp) }),
    );
    if (!response.ok) return response;
    const session = await response.json();
    const data = typeof body.data === "object" && body.data !== null ? body.data : {};
    await query(
      `update auth.users
         set is_anonymous = true, email = null, encrypted_password = null, raw_app_meta_data = '{}', raw_user_meta_data = $2
         where id = $1`,
      [session.user.id, JSON.stringify(data)],
    );
    await query("delete from auth.identities where user_id = $1", [session.user.id]);
    const user = {
      ...session.user,
      email: "",
      is_anonymous: true,
      app_metadata: {},
      user_metadata: data,
      identities: [],
    };
    return Response.json({ ...session, user }, { status: response.status, headers: response.headers });
  }

  /**
   * The claims of a token that depend on whether its user is anonymous.
   * @param {any} claims of a token of Supabase Lite
   */
  async function claimsOf(claims) {
    const { rows } = await query("select raw_user_meta_data from auth.users where id = $1 and is_anonymous", [
      claims.sub,
    ]);
    if (rows.length === 0) return { is_anonymous: false };
    const [{ raw_user_meta_data: data }] = rows;
    return { is_anonymous: true, email: "", app_metadata: {}, user_metadata: data };
  }

  return { answer, claimsOf };
}

/** Why the account has no access token. */
export class SignInError extends Error {
  /** @override */
  name = "SignInError";
}

/** A token is renewed this long before it ends, so that it does not end on its way. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 15_000;
/** The statuses with which Supabase Auth says that it no longer knows a session. */
const SESSION_IS_OVER = [400, 403, 404];

/**
 * Signs in to the account of the Supabase project that asks all questions: with a password, or anonymously without one. The session is kept in memory and refreshed before it expires.
 * @param {object} options
 * @param {string} options.url of the Supabase project
 * @param {string} options.publishableKey
 * @param {string} [options.email]
 * @param {string} [options.password]
 * @returns {Promise<{ accessToken(): Promise<string> }>}
 */
export async function signIn({ url, publishableKey, email, password }) {
  const post = async (/** @type {string} */ path, /** @type {object} */ body) => {
    const response = await fetch(`${url.replace(/\/+$/, "")}/auth/v1/${path}`, {
      method: "POST",
      headers: { apikey: publishableKey, "content-type": "application/json" },
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((cause) => {
      throw new SignInError("Supabase Auth cannot be reached right now.", { cause });
    });
    return { status: response.status, json: await response.json().catch(() => ({})) };
  };
  const open = () => (email && password ? post("token?grant_type=password", { email, password }) : post("signup", {}));
  const sessionOf = ({ status, json: { access_token, refresh_token, expires_in = 3600, msg } }) => {
    if (!access_token) throw new SignInError(`Supabase does not let the adapter sign in: ${msg ?? `status ${status}`}`);
    return { access_token, refresh_token, endsAt: Date.now() + expires_in * 1000 };
  };
  let session = sessionOf(await open());
  // Each anonymous sign-in makes a new user, with an empty history and fresh limits. So a new one replaces only a session that is over.
  // If Supabase Auth cannot renew a session right now, that session stays.
  const renew = async () => {
    const renewed = await post("token?grant_type=refresh_token", { refresh_token: session.refresh_token });
    session = sessionOf(SESSION_IS_OVER.includes(renewed.status) ? await open() : renewed);
  };
  /** The renewal that all questions wait for. */
  let renewing;
  return {
    async accessToken() {
      if (session.endsAt < Date.now() + MARGIN_MS) await (renewing ??= renew().finally(() => (renewing = undefined)));
      return session.access_token;
    },
  };
}

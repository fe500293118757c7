import { createClient } from "@supabase/supabase-js";

/** Why the account has no access token. */
export class SignInError extends Error {
  /** @override */
  name = "SignInError";
}

/**
 * Signs in to the account of the Supabase project that asks all questions: with a password, or anonymously without one. The session is kept in memory and refreshed before it expires.
 * @param {object} options
 * @param {string} options.url of the Supabase project
 * @param {string} options.publishableKey
 * @param {string} [options.email]
 * @param {string} [options.password]
 * @returns {Promise<{ accessToken(): Promise<string>, signOut(): Promise<void> }>}
 */
export async function signIn({ url, publishableKey, email, password }) {
  const { auth } = createClient(url, publishableKey, { auth: { persistSession: false, autoRefreshToken: false } });
  const open = () => (email && password ? auth.signInWithPassword({ email, password }) : auth.signInAnonymously());
  const first = await open();
  if (first.error) throw new SignInError(`Supabase does not let the adapter sign in: ${first.error.message}`);
  let opening;
  return {
    async accessToken() {
      // Refreshes an expired session. A session that was revoked is replaced by a new one: one for all questions that wait for it,
      // because each anonymous sign-in makes another user.
      const { data } = await auth.getSession();
      const reopen = () => (opening ??= open().finally(() => (opening = undefined)));
      const session = data.session ?? (await reopen()).data.session;
      if (!session) throw new SignInError("The adapter's account cannot sign in to Supabase any more.");
      return session.access_token;
    },
    async signOut() {
      await auth.signOut({ scope: "local" });
    },
  };
}

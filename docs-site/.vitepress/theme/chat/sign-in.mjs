// Signs visitors in on the local stack.

/** Seconds before its end at which a token is renewed. */
const MARGIN = 60;

/**
 * Tokens of the test user, one sign-in for all widgets.
 * @param {import("./chat.mjs").ChatServer} server
 */
export function tokenProviderFor({ supabaseUrl, publishableKey, login }) {
  let token;
  let signingIn;
  return async () => {
    if (token && token.expiresAt - MARGIN > Date.now() / 1000) return token.text;
    signingIn ??= signIn().finally(() => (signingIn = undefined));
    token = await signingIn;
    return token.text;
  };

  async function signIn() {
    const response = await fetch(`${supabaseUrl}/auth/v1/token?grant_type=password`, {
      method: "POST",
      headers: { apikey: publishableKey ?? "", "content-type": "application/json" },
      body: JSON.stringify(login),
    });
    if (!response.ok) throw new Error(`the test user cannot sign in: ${response.status}`);
    const { access_token: text, expires_at: expiresAt } = await response.json();
    return { text, expiresAt };
  }
}

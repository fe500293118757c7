import { UserError } from "./user-error.mjs";

/** The test login of the demo page. */
export const LOGIN = { email: "demo@example.com", password: "try-evidence-chat" };

/** Signs up the test user, unless an earlier run did. */
export async function createLogin(supabaseUrl, publishableKey) {
  const response = await fetch(`${supabaseUrl}/auth/v1/signup`, {
    method: "POST",
    headers: { apikey: publishableKey, "content-type": "application/json" },
    body: JSON.stringify(LOGIN),
  });
  if (response.ok) return;
  const text = await response.text();
  if (text.includes("user_already_exists")) return;
  throw new UserError(
    `cannot create the test login (${response.status} ${text}); delete the data folder to start again`,
  );
}

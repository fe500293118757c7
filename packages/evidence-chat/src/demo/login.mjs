import { UserError } from "../user-error.mjs";

/** The test login of the demo page. */
export const LOGIN = { email: "demo@example.com", password: "try-evidence-chat" };

/**
 * Signs up the test user, unless an earlier run did, and makes it an administrator, who may read the insights.
 * @param {string} supabaseUrl
 * @param {{ publishable_key: string, secret_key: string }} keys
 */
export async function createLogin(supabaseUrl, { publishable_key: publishableKey, secret_key: secretKey }) {
  const post = async (path) => {
    const response = await fetch(`${supabaseUrl}/auth/v1/${path}`, {
      method: "POST",
      headers: { apikey: publishableKey, "content-type": "application/json" },
      body: JSON.stringify(LOGIN),
    });
    return { status: response.status, text: await response.text() };
  };
  let reply = await post("signup");
  if (reply.text.includes("user_already_exists")) reply = await post("token?grant_type=password");
  if (reply.status !== 200) {
    throw new UserError(
      `cannot create the test login (${reply.status} ${reply.text}); delete the data folder to start again`,
    );
  }
  const { user } = JSON.parse(reply.text);
  const administrators = ["evidence_chat:administrator", `sub:${user.id}`];
  await changeRow({ url: supabaseUrl, secretKey }, "chat_settings?id=eq.true", { administrators });
}

/**
 * Changes a row of a table of settings.
 * @param {{ url: string, secretKey: string }} project
 * @param {string} row
 * @param {object} values
 */
export async function changeRow({ url, secretKey }, row, values) {
  const response = await fetch(`${url}/rest/v1/${row}`, {
    method: "PATCH",
    headers: { apikey: secretKey, authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
    body: JSON.stringify(values),
  });
  if (!response.ok) throw new UserError(`cannot change ${row} (${response.status})`);
}

import { createHash, createHmac } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { generateKeys } from "../../local/src/keys.mjs";
import { openSupabase } from "../../local/src/supabase.mjs";

const ORIGIN = "http://127.0.0.1";
const WORKER_SECRET = "the secret of the Worker in these tests";

/** What the Worker sends with its calls. */
export const WORKER = { "x-evidence-chat-worker": WORKER_SECRET };

/** Opens an in-memory Supabase with the real migrations and seed, two signed-up users and one client per role. */
export async function openTestProject() {
  const storageDir = await mkdtemp(path.join(tmpdir(), "supabase-test-"));
  const keys = await generateKeys();
  const supabase = await openSupabase({ keys, storageDir });
  const anon = createClient(supabase, keys.publishable_key);
  const service = createClient(supabase, keys.secret_key);
  await service.rpc("chat_set_worker_secret", {
    secret_hash: createHash("sha256").update(WORKER_SECRET).digest("hex"),
  });
  const alice = await signUp(supabase, keys, "alice@example.com");
  const bob = await signUp(supabase, keys, "bob@example.com");
  return {
    ...supabase,
    keys,
    anon,
    alice,
    bob,
    service,
    /** A client of a new user whose token has these claims as well, `app_metadata` among them. */
    async signUp(email, claims) {
      const { id, token } = await signUp(supabase, keys, email);
      return { ...createClient(supabase, keys.publishable_key, withClaims(token, claims, keys.jwt_secret)), id };
    },
    async close() {
      await supabase.close();
      await rm(storageDir, { recursive: true, force: true });
    },
  };
}

async function signUp(supabase, keys, email) {
  const anon = createClient(supabase, keys.publishable_key);
  const { body } = await anon.request("POST", "/auth/v1/signup", { email, password: "correct horse" });
  return { ...createClient(supabase, keys.publishable_key, body.access_token), id: body.user.id };
}

/** What hosted Supabase does when an administrator sets app_metadata, or a hook adds claims. */
function withClaims(token, claims, secret) {
  const [header, payload] = token.split(".");
  const all = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), ...claims };
  const content = `${header}.${Buffer.from(JSON.stringify(all)).toString("base64url")}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
}

function createClient(supabase, apiKey, token) {
  const request = async (method, url, body, extraHeaders = {}) => {
    /** @type {Record<string, string>} */
    const headers = { apikey: apiKey, "content-type": "application/json", ...extraHeaders };
    if (token) headers.authorization = `Bearer ${token}`;
    const response = await supabase.fetch(
      new Request(ORIGIN + url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) }),
    );
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : parseJson(text) };
  };
  const returnRows = { prefer: "return=representation" };
  return {
    token,
    request,
    select: (table, filter = "") => request("GET", `/rest/v1/${table}?${filter}`),
    insert: (table, rows) => request("POST", `/rest/v1/${table}`, rows, returnRows),
    update: (table, filter, values) => request("PATCH", `/rest/v1/${table}?${filter}`, values, returnRows),
    remove: (table, filter) => request("DELETE", `/rest/v1/${table}?${filter}`, undefined, returnRows),
    /** As the Worker calls. */
    rpc: (name, parameters) => request("POST", `/rest/v1/rpc/${name}`, parameters, WORKER),
    /** A direct call with the publishable key and a token. */
    directRpc: (name, parameters, headers) => request("POST", `/rest/v1/rpc/${name}`, parameters, headers),
  };
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

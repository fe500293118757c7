// The real parts behind the adapter: Postgres with the migrations, auth, the Worker in workerd, the embedder and its model.
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEmbedder } from "@evidence-chat/embedder";
import { createAdapter } from "@evidence-chat/openai-adapter";
import { listen } from "../../../local/service.mjs";
import { startWorker } from "../../../local/worker/worker.mjs";
import { startServer } from "../../../supabase/tests/support/start.mjs";

/**
 * The knowledge base: one passage a document.
 * @type {{ title: string, url?: string, sentences: string[] }[]}
 */
const DOCUMENTS = [
  { title: "Refunds", sentences: ["You can return an order within 30 days.", "Refunds are paid within 5 days."] },
  {
    title: "Shipping",
    url: "https://shop.test/shipping",
    sentences: ["Standard shipping takes three working days.", "Orders above 40 euros are shipped free of charge."],
  },
];

/** Its answer quotes both documents. */
export const QUESTION_FOR_BOTH = "How many days do refunds and standard shipping take?";

export const PASSWORD = "correct horse battery";

/**
 * Starts everything. `variables` are of the Worker; `assets` is the folder of its static files, if it has any; `settings` are
 * of the assistant.
 * @param {Record<string, string>} [variables]
 * @param {{ assets?: string, settings?: object }} [options]
 */
export async function startStack(variables = {}, { assets, settings } = {}) {
  const cleanups = [];
  const close = async () => {
    for (const cleanup of cleanups.reverse()) await cleanup();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), "evidence-chat-integrations-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const context = /** @type {any} */ ({ after: (cleanup) => cleanups.push(cleanup) });
    const supabase = await startServer(context, folder);
    cleanups.push(() => (supabase.child.kill("SIGTERM"), supabase.exited));
    const embedder = await createEmbedder();
    cleanups.push(() => embedder.dispose());
    for (const document of DOCUMENTS) await write(supabase, embedder, document);
    const rest = (path, init) => restOf(supabase, path, init);
    if (settings) await rest("assistants?name=eq.default", { method: "PATCH", body: settings });
    const log = [];
    const worker = await startWorker({
      assets,
      onLog: (line) => log.push(line),
      variables: {
        SUPABASE_URL: supabase.url,
        SUPABASE_PUBLISHABLE_KEY: supabase.keys.publishable_key,
        SUPABASE_JWT_SECRET: supabase.keys.jwt_secret,
        CHAT_WORKER_SECRET: supabase.keys.worker_secret,
        ...variables,
      },
    });
    cleanups.push(() => worker.close());
    const user = () => signUp(supabase);
    const adapter = async (options = {}) => {
      const started = await startAdapter({ worker: worker.url, embedder, ...options });
      cleanups.push(started.close);
      return started;
    };
    return { supabase, worker, embedder, log, rest, user, adapter, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startAdapter(/** @type {Parameters<typeof createAdapter>[0]} */ options) {
  const server = createServer(createAdapter(options));
  const url = await listen(server, 0);
  const close = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url, baseURL: `${url}/v1`, close };
}

async function signUp({ url, keys }) {
  const email = `${crypto.randomUUID()}@example.com`;
  const response = await fetch(`${url}/auth/v1/signup`, {
    method: "POST",
    headers: { apikey: keys.publishable_key, "content-type": "application/json" },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const { access_token: token, user } = await response.json();
  return { email, token, id: user.id };
}

async function restOf({ url, keys }, path, { method = "GET", body } = /** @type {any} */ ({})) {
  const response = await fetch(`${url}/rest/v1/${path}`, {
    method,
    headers: { apikey: keys.secret_key, "content-type": "application/json", prefer: "return=representation" },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text && JSON.parse(text);
}

/** Writes a document with one passage, as `kb sync` leaves it. */
async function write(supabase, embedder, /** @type {(typeof DOCUMENTS)[0]} */ { title, url, sentences }) {
  const insert = async (table, row) => (await restOf(supabase, table, { method: "POST", body: row }))[0];
  const vector = async (text) => JSON.stringify(Array.from((await embedder.embed(text)).vector));
  const meta = { title, ...(url && { url }) };
  const name = `${title.toLowerCase()}.md`;
  const document = await insert("kb_documents", { source: name, name, content_hash: name, meta, status: "ready" });
  const content = sentences.join(" ");
  const chunk = await insert("kb_chunks", { document_id: document.id, ordinal: 0, content, meta: { section: title } });
  await insert("kb_embeddings", {
    chunk_id: chunk.id,
    embedding: await vector(`${title}\n${content}`),
    model: embedder.fingerprint,
  });
  for (const [ordinal, sentence] of sentences.entries()) {
    const start = content.indexOf(sentence);
    const embedding = await vector(sentence);
    const end = start + sentence.length;
    await insert("kb_sentences", { chunk_id: chunk.id, ordinal, start, end, embedding, kind: "sentence" });
  }
}

// Starts the adapter; README.md lists the variables.
import { once } from "node:events";
import { createServer } from "node:http";
import { createEmbedder } from "@evidence-chat/embedder";
import { createAdapter, signIn } from "./src/index.mjs";

/** Shorter keys can be guessed. */
const MIN_KEY_LENGTH = 16;

const { env } = process;

try {
  const worker = required("EVIDENCE_CHAT_URL");
  const account = env.SUPABASE_URL ? await signInFromEnvironment(env.SUPABASE_URL) : undefined;
  const apiKey = account && required("ADAPTER_API_KEY");
  if (apiKey && apiKey.length < MIN_KEY_LENGTH) {
    throw new Error(`ADAPTER_API_KEY must have at least ${MIN_KEY_LENGTH} characters.`);
  }
  const modelUrl = env.EMBEDDER_MODEL_URL;
  const embedder = await createEmbedder(modelUrl ? { modelUrl } : {});
  const reader = await embedder.loadReader().then(
    () => embedder,
    (error) => void console.error(`The search decides alone, without the reader: ${error.message}`),
  );
  const server = createServer(createAdapter({ worker, embedder, reader, account, apiKey }));
  server.listen(Number(env.PORT ?? 8090), env.HOST ?? "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : "";
  console.log(`ready http://${env.HOST ?? "127.0.0.1"}:${port}/v1`);
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      server.close(() => process.exit(0));
      server.closeAllConnections();
    });
  }
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exit(1);
}

/** @param {string} name */
function required(name) {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set.`);
  return value;
}

/** @param {string} url */
function signInFromEnvironment(url) {
  const { SUPABASE_EMAIL: email, SUPABASE_PASSWORD: password } = env;
  if (Boolean(email) !== Boolean(password)) {
    throw new Error("Set both of SUPABASE_EMAIL and SUPABASE_PASSWORD, or none of them to sign in anonymously.");
  }
  return signIn({ url, publishableKey: required("SUPABASE_PUBLISHABLE_KEY"), email, password });
}

// What the demo page's server and its deployed form have in common. `settings` are named like the environment variables in serve.mjs.

/** The page's /config.json, see config.ts. */
export function pageConfig(settings) {
  return {
    chatEndpoint: settings.CHAT_ENDPOINT ?? "",
    supabaseUrl: settings.SUPABASE_URL ?? "",
    supabasePublishableKey: settings.SUPABASE_PUBLISHABLE_KEY ?? "",
    demoEmail: settings.DEMO_EMAIL ?? "",
    demoPassword: settings.DEMO_PASSWORD ?? "",
    onDeviceModelUrl: settings.ON_DEVICE_MODEL_URL ?? "",
    hasOwnDocuments: Boolean(settings.DEMO_OWN_DOCUMENTS),
  };
}

/** What `GET /api/project` of the Worker answers. */
export function project({ SUPABASE_URL = "", SUPABASE_PUBLISHABLE_KEY = "" }) {
  return { supabase_url: SUPABASE_URL, publishable_key: SUPABASE_PUBLISHABLE_KEY };
}

/**
 * Scripts and styles only from this origin and never inline; connections only to the two servers. The embedder and the
 * writer need `wasm-unsafe-eval` and their own Trusted Types policies.
 *
 * @param {Record<string, string | undefined>} settings
 */
export function pagePolicy({ CHAT_ENDPOINT, SUPABASE_URL, ON_DEVICE_MODEL_URL }) {
  const urls = [CHAT_ENDPOINT, SUPABASE_URL, ON_DEVICE_MODEL_URL];
  const origins = urls.flatMap((url) => (url !== undefined && URL.canParse(url) ? [new URL(url).origin] : []));
  return [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    // wllama, of the writer, makes its worker from a URL of that kind.
    "worker-src 'self' blob:",
    "img-src 'self'",
    `connect-src 'self' ${[...new Set(origins)].join(" ")}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types evidence-chat-embedder evidence-chat-writer",
  ].join("; ");
}

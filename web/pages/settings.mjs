// The settings and policies of the pages. `settings` are named like the environment variables in demo/serve.mjs.

/** The demo page's /config.json, see `DemoConfig` in demo.ts. */
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

/**
 * The Content-Security-Policy of the demo page. The embedder and the writer need `wasm-unsafe-eval`, and
 * Trusted Types policies of their own.
 * @param {Record<string, string | undefined>} settings
 */
export function pagePolicy({ CHAT_ENDPOINT, SUPABASE_URL, ON_DEVICE_MODEL_URL }) {
  const urls = [CHAT_ENDPOINT, SUPABASE_URL, ON_DEVICE_MODEL_URL];
  const origins = urls.flatMap((url) => (url !== undefined && URL.canParse(url) ? [new URL(url).origin] : []));
  return policy([...new Set(origins)].join(" "), [
    "script-src 'self' 'wasm-unsafe-eval'",
    // wllama, of the writer, makes its worker from a `blob:` URL.
    "worker-src 'self' blob:",
    "frame-ancestors 'self'",
    "trusted-types evidence-chat-embedder evidence-chat-writer",
  ]);
}

/**
 * The Content-Security-Policy of the insights page.
 * @param {string} connections the origin of the Supabase project, or a scheme
 */
export function insightsPolicy(connections) {
  return policy(connections, ["script-src 'self'", "frame-ancestors 'none'", "trusted-types 'none'"]);
}

/** Allows files of the page's own origin, nothing inline, and connections to `connections`. */
function policy(connections, directives) {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${connections}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    ...directives,
  ].join("; ");
}

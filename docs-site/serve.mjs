// Serves the built site, a local service (see tools/local-service/): `node docs-site/serve.mjs`. With a chat server, the site's
// widgets ask it; without one, they ask their stand-in. Environment:
//   PORT                      port on 127.0.0.1; unset picks a free one
//   CHAT_ENDPOINT             URL of POST /api/chat
//   SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY
//   DEMO_EMAIL, DEMO_PASSWORD test login as which all visitors ask
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listen, runService } from "@evidence-chat/local-service";
import { resolveBelow, sendFile } from "../web/demo/static-files.mjs";

const DIST = fileURLToPath(new URL("dist", import.meta.url));
const WIDGET = fileURLToPath(new URL("../web/dist", import.meta.url));
const REVALIDATE = "no-cache";
const IMMUTABLE = "public, max-age=31536000, immutable";

/** Creates the server (not yet listening) for settings named like the environment variables. */
export function createDocsServer(settings, dist = DIST) {
  const chat = JSON.stringify(chatServer(settings));
  const servers = [settings.CHAT_ENDPOINT, settings.SUPABASE_URL].filter(Boolean).map((url) => new URL(url).origin);

  return createServer((request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("referrer-policy", "no-referrer");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const path = (request.url ?? "/").split("?", 1)[0].replace(/\/$/, "/index.html");
    respond(path, request, response).catch(() => response.destroy());
  });

  async function respond(path, request, response) {
    if (path === "/chat.json") return send("application/json", chat);
    // With the model, which the site lacks.
    const widget = path.startsWith("/widget/") ? path.slice("/widget".length) : undefined;
    if (widget) return sendFile(request, response, WIDGET, widget, REVALIDATE);
    const page = path.endsWith(".html") && servers.length > 0 ? resolveBelow(dist, path) : null;
    if (page) {
      const html = await readFile(page, "utf8").catch(() => undefined);
      // The page's own policy allows no server but the one it was built for.
      const policy = `connect-src 'self' ${servers.join(" ")}`;
      if (html) return send("text/html; charset=utf-8", html.replace("connect-src 'self'", policy));
    }
    const caching = path.startsWith("/assets/") ? IMMUTABLE : REVALIDATE;
    return sendFile(request, response, dist, path, caching);

    function send(type, text) {
      response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : text);
    }
  }
}

/** What `chat.json` says, see `.vitepress/theme/chat/chat.mjs`. */
function chatServer({ CHAT_ENDPOINT, SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY, DEMO_EMAIL, DEMO_PASSWORD }) {
  if (!CHAT_ENDPOINT) return {};
  return {
    endpoint: CHAT_ENDPOINT,
    supabaseUrl: SUPABASE_URL,
    publishableKey: SUPABASE_PUBLISHABLE_KEY,
    login: { email: DEMO_EMAIL, password: DEMO_PASSWORD },
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runService({
    serve: async (port, ready) => ready(await listen(createDocsServer(process.env), port)),
  });
}

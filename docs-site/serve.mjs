// Serves the built site, a local service (see local/service.mjs): `node docs-site/serve.mjs`. Environment:
//   PORT                      port on 127.0.0.1; unset picks a free one
//   CHAT_ENDPOINT             URL of POST /api/chat of a Worker that also serves the widget; unset, the site has no chat
//   SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY   where the widget signs visitors in
import { createServer } from "node:http";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listen, runService } from "../local/service.mjs";
import { sendFile } from "../web/demo/static-files.mjs";

const DIST = fileURLToPath(new URL("dist", import.meta.url));

/** Creates the server (not yet listening) for settings named like the environment variables. */
export function createDocsServer(/** @type {NodeJS.ProcessEnv} */ settings, dist = DIST) {
  const chat = settings.CHAT_ENDPOINT && {
    script: new URL("/evidence-chat.js", settings.CHAT_ENDPOINT).href,
    "supabase-url": settings.SUPABASE_URL,
    "supabase-key": settings.SUPABASE_PUBLISHABLE_KEY,
  };
  return createServer((request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("referrer-policy", "no-referrer");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const path = (request.url ?? "/").split("?", 1)[0].replace(/\/$/, "/index.html");
    if (chat && path === "/chat.json") {
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : JSON.stringify(chat));
      return;
    }
    sendFile(request, response, dist, path, "no-cache").catch(() => response.destroy());
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runService({
    serve: async (port, ready) => ready(await listen(createDocsServer(process.env), port)),
  });
}

// The demo page's server, a local service (see local/service.mjs): `node web/demo/serve.mjs`. Environment:
//   PORT                      port on 127.0.0.1; unset picks a free one
//   CHAT_ENDPOINT             URL of POST /api/chat
//   SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY
//   DEMO_EMAIL, DEMO_PASSWORD test login that the page fills in
//   ON_DEVICE_MODEL_URL       URL of the language model that writes answers in the browser; unset, there is none
//   ON_DEVICE_MODEL_FILE      the file that is served if that URL is a path /writer-model/… of this server. Browsers keep the
//                             file for good, so the path must change with it
//   DEMO_OWN_DOCUMENTS        set: the documents are not those of the sample shop
//   WIDGET_DIR                folder with the widget's bundle; default web/dist
import { createServer } from "node:http";
import { basename, dirname } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { listen, runService } from "../../local/service.mjs";
import { insightsPolicy, pageConfig, pagePolicy } from "../pages/settings.mjs";
import { sendFile } from "./static-files.mjs";

const DIST = fileURLToPath(new URL("../dist", import.meta.url));

/** Most files keep their names when they change, so browsers must revalidate them. */
const REVALIDATE = "no-cache";
/** Files with a content hash in their names never change. */
const IMMUTABLE = "public, max-age=31536000, immutable";
const HASHED_NAME = /^\/(assets|insights\/assets|writer-model)\/.|^\/widget\/.*-([A-Z0-9]{8}|[0-9a-f]{8})\.[a-z.]+$/;

/** Creates the server (not yet listening) for settings named like the environment variables. */
export function createDemoServer(settings, dist = DIST) {
  const { SUPABASE_URL: supabase_url = "", SUPABASE_PUBLISHABLE_KEY: publishable_key = "" } = settings;
  const documents = new Map([
    ["/config.json", JSON.stringify(pageConfig(settings))],
    // As the Worker answers, for the insights page.
    ["/api/project", JSON.stringify({ supabase_url, publishable_key })],
  ]);
  const policy = pagePolicy(settings);
  const policyOfInsights = insightsPolicy(new URL(supabase_url || "http://127.0.0.1").origin);

  return createServer((request, response) => {
    const path = (request.url ?? "/").split("?", 1)[0];
    response.setHeader("content-security-policy", path.startsWith("/insights/") ? policyOfInsights : policy);
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("referrer-policy", "no-referrer");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const json = documents.get(path);
    if (json !== undefined) {
      response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : json);
      return;
    }
    if (path === "/insights") {
      response.writeHead(307, { location: "/insights/" }).end();
      return;
    }
    const { root, file } = route(path, dist, settings);
    const caching = HASHED_NAME.test(path) ? IMMUTABLE : REVALIDATE;
    sendFile(request, response, root, file, caching).catch(() => response.destroy());
  });
}

/**
 * `/insights/…` is the page for administrators, `/writer-model/…` the language model, `/widget/…` the widget
 * and the embedder's model, also for other pages, everything else the demo page.
 */
function route(path, dist, settings) {
  if (path.startsWith("/writer-model/")) {
    // Only this file: its folder may contain anything.
    const { ON_DEVICE_MODEL_URL: url, ON_DEVICE_MODEL_FILE: model = "" } = settings;
    return { root: path === url ? dirname(model) : undefined, file: `/${basename(model)}` };
  }
  if (path.startsWith("/widget/")) return { root: settings.WIDGET_DIR ?? dist, file: path.slice("/widget".length) };
  if (path.startsWith("/insights/")) {
    return { root: `${dist}/insights`, file: path === "/insights/" ? "/index.html" : path.slice("/insights".length) };
  }
  return { root: `${dist}/demo`, file: path === "/" ? "/index.html" : path };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await runService({
    serve: async (port, ready) => ready(await listen(createDemoServer(process.env), port)),
  });
}

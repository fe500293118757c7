// Serves a page that runs one module of the widget under a strict Content Security Policy with Trusted Types.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { listen } from "../../../../tests/lib/listen.mjs";
import { styleSheetsAsText } from "../../../build/style-sheets-as-text.mjs";

const BASE_POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/**
 * Bundles `entry` and serves it as `/main.js`.
 * @param {URL} entry the module that the page runs
 * @param {{ html: string, css?: string, policy?: string, respond?: (request: import("node:http").IncomingMessage,
 *   response: import("node:http").ServerResponse) => unknown }} page `html` is the page without its script, `css` is served as
 *   `/main.css`, `policy` is added to the policy, and `respond` handles the requests below `/api/`
 * @returns the site; `requests` are the requested paths of the page, without those below `/api/`
 */
export async function startPageSite(entry, { html, css, policy = "style-src 'none'", respond }) {
  const requests = [];
  const files = await bundle(entry);
  files.set("/", { type: "text/html", content: `${html}<script type="module" src="/main.js"></script>` });
  if (css !== undefined) files.set("/main.css", { type: "text/css", content: css });
  const server = await listen((request, response) => {
    const { pathname } = new URL(request.url, "http://x");
    if (respond && pathname.startsWith("/api/")) return respond(request, response);
    requests.push(pathname);
    const file = files.get(pathname);
    if (!file) return response.writeHead(pathname === "/favicon.ico" ? 204 : 404).end();
    const headers = { "content-type": file.type, "content-security-policy": `${BASE_POLICY}; ${policy}` };
    response.writeHead(200, headers).end(file.content);
  });
  return { ...server, requests };
}

/** The entry as `/main.js`, and the modules that it loads later. */
async function bundle(entry) {
  const { outputFiles } = await build({
    entryPoints: { main: fileURLToPath(entry) },
    outdir: "/",
    bundle: true,
    splitting: true,
    write: false,
    format: "esm",
    target: "es2022",
    plugins: [styleSheetsAsText],
    logLevel: "warning",
  });
  return new Map(outputFiles.map(({ path, text }) => [path, { type: "text/javascript", content: text }]));
}

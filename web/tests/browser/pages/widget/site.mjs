// A page with the built widget and the model; the chat API is on another origin.
import assert from "node:assert/strict";
import { access, readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { listen } from "../../../../../tests/lib/listen.mjs";
import { startChatApi } from "../../support/chat-api.mjs";

/** The folder of the built widget. */
export const WIDGET = process.env.WIDGET_DIST ?? fileURLToPath(new URL("../../../../dist", import.meta.url));

const TYPES = {
  ".css": "text/css",
  ".js": "text/javascript",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/** Lets tests count requests. */
const NOT_CACHED = "no-store";

/** Reserves the widget's space until its script is loaded. */
const PAGE_STYLE = `evidence-chat:not([mode="floating"]) { display: block; height: min(44rem, 85vh); }`;

/** Sets the token provider before the element is defined, as a page's script may. */
const PAGE_SCRIPT = `
  globalThis.tokens = [];
  globalThis.tokenProvider = async () => {
    const token = sessionStorage.getItem("token");
    tokens.push(token);
    return token;
  };
  for (const chat of document.querySelectorAll("evidence-chat")) chat.tokenProvider = tokenProvider;
`;

const MODEL = /all-MiniLM[\w-]+\.safetensors\.gz$/;
const READER = /reader-int8-\w{8}\.safetensors\.gz$/;

/** The uncompressed model. */
export async function readModel() {
  const name = (await readdir(WIDGET)).find((file) => MODEL.test(file));
  return gunzipSync(await readFile(`${WIDGET}/${name}`));
}

/**
 * Starts the page's server and the API's. A test file shares one site, because the browser caches the model per origin.
 *
 * `site.body` and `site.csp` are the content and policy of the next visit; `openWidgetPage` sets them. `site.requests` are the
 * paths requested from the page's server; `site.api` is the API. `site.script` is the URL of the widget, `site.integrity` its hash
 * and `site.importMap` the text of an import map, if set. `site.cacheControl` is that of all responses. `site.interfere`, if set, gets each request first and returns whether it
 * has answered it.
 */
export async function startWidgetSite() {
  await access(`${WIDGET}/evidence-chat.js`).catch(() =>
    assert.fail(`${WIDGET} does not exist: build the widget first`),
  );
  const api = await startChatApi();
  const site = {
    api,
    requests: [],
    body: "",
    csp: undefined,
    script: "/widget/evidence-chat.js",
    integrity: undefined,
    importMap: undefined,
    interfere: undefined,
    cacheControl: NOT_CACHED,
  };
  const respond = async (request, response) => {
    const path = new URL(request.url, "http://x").pathname;
    site.requests.push(path);
    if (await site.interfere?.(path, response)) return;
    if (site.csp !== undefined) response.setHeader("content-security-policy", site.csp);
    response.setHeader("cache-control", site.cacheControl);
    await sendFile(path, site, response);
  };
  const { origin, close } = await listen(respond);
  const modelRequests = () => site.requests.filter((path) => MODEL.test(path));
  const readerRequests = () => site.requests.filter((path) => READER.test(path));
  const reset = () => {
    site.interfere = undefined;
    site.cacheControl = NOT_CACHED;
    api.reset();
  };
  /** Removes the cached model and reader, so that the next visit downloads them. */
  const forgetModel = async (browser) => {
    const page = await browser.page.context().newPage();
    await page.goto(`${origin}/page.js`);
    await page.evaluate(() => caches.delete("evidence-chat-embedder"));
    await page.close();
  };
  const closeBoth = async () => {
    await close();
    await api.close();
  };
  return Object.assign(site, { origin, modelRequests, readerRequests, reset, forgetModel, close: closeBoth });
}

async function sendFile(path, site, response) {
  if (path === "/") return response.writeHead(200, { "content-type": "text/html" }).end(page(site));
  if (path === "/page.css") return response.writeHead(200, { "content-type": "text/css" }).end(PAGE_STYLE);
  if (path === "/page.js") return response.writeHead(200, { "content-type": "text/javascript" }).end(PAGE_SCRIPT);
  const [, folder, name] = /^\/(widget|model)\/((?:writer\/)?[\w.-]+)$/.exec(path) ?? [];
  // The folder of the model that a page may name instead of the widget's.
  const isServed = folder === "widget" || name?.endsWith(".safetensors.gz");
  const content = isServed && (await readFile(`${WIDGET}/${name}`).catch(() => undefined));
  if (!content) return response.writeHead(404).end();
  const type = TYPES[extname(name)] ?? "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": content.length }).end(content);
}

function page({ body, script, integrity, importMap }) {
  const checked = integrity === undefined ? "" : `integrity="${integrity}" crossorigin`;
  return `<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Fernhollow Goods</title>
        <link rel="stylesheet" href="/page.css" />
        ${importMap === undefined ? "" : `<script type="importmap">${importMap}</script>`}
        <script type="module" src="${script}" ${checked}></script>
      </head>
      <body>
        <h1>Fernhollow Goods</h1>
        <p>Tents, stoves and sturdy boots since 1987.</p>
        ${body}
        <p id="after">Visit us in the old town.</p>
        <script src="/page.js"></script>
      </body>
    </html>`;
}

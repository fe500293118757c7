import { timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Files of Supabase Lite's Studio, which its own command line serves and its request handler does not. */
const FILES = path.join(path.dirname(fileURLToPath(import.meta.resolve("@supabase/lite"))), "static");
const CONTENT_TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const COOKIE = "dashboard";

/**
 * Supabase Lite's Studio with the rights of the service role, for anyone who has opened its URL with the password once.
 * The browser never gets the secret key: it is added here, and only to requests from the Studio's own pages.
 * @param {(request: Request) => Promise<Response>} handle Supabase Lite with its Studio
 * @param {object} secrets
 * @param {string} secrets.secretKey
 * @param {string} secrets.password in the URL that opens it, and in a cookie afterwards
 * @returns {(request: Request) => Promise<Response>}
 */
export function createDashboard(handle, { secretKey, password }) {
  return async (request) => {
    const { hostname, pathname, searchParams } = new URL(request.url);
    // Prevents DNS rebinding: another site may point its host name at this computer.
    if (hostname !== "127.0.0.1") return refuse();
    if (pathname === "/" && isEqual(searchParams.get("password") ?? "", password)) return open(password);
    if (!isOwnPage(request) || !isEqual(cookieOf(request), password)) return refuse();
    if (pathname.startsWith("/static/")) return file(pathname.slice("/static/".length));
    return handle(await withSecretKey(request, secretKey));
  };
}

function refuse() {
  return new Response("Open the address that the server printed when it started.\n", { status: 403 });
}

function open(password) {
  const cookie = `${COOKIE}=${password}; Path=/; HttpOnly; SameSite=Strict`;
  return new Response(null, { status: 303, headers: { location: "/", "set-cookie": cookie } });
}

/** Cookies are shared among all ports of a computer, so the cookie alone does not prove which page sent the request. */
function isOwnPage(request) {
  const site = request.headers.get("sec-fetch-site");
  return site === "same-origin" || (site === "none" && request.method === "GET");
}

function cookieOf(request) {
  const pairs = (request.headers.get("cookie") ?? "").split(/;\s*/).map((pair) => pair.split("="));
  return pairs.find(([name]) => name === COOKIE)?.[1] ?? "";
}

async function file(name) {
  const location = path.join(FILES, decodeURIComponent(name));
  if (!location.startsWith(FILES + path.sep)) return new Response(null, { status: 404 });
  const bytes = await readFile(location).catch(() => undefined);
  if (bytes === undefined) return new Response(null, { status: 404 });
  const type = CONTENT_TYPES[path.extname(location)] ?? "application/octet-stream";
  return new Response(bytes, { headers: { "content-type": type } });
}

async function withSecretKey(request, secretKey) {
  const headers = new Headers(request.headers);
  // Supabase rejects a secret key in a request that looks like a browser's.
  for (const name of ["authorization", "content-length", "cookie", "user-agent"]) headers.delete(name);
  headers.set("apikey", secretKey);
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  return new Request(request.url, {
    method: request.method,
    headers,
    body: hasBody ? await request.arrayBuffer() : undefined,
  });
}

function isEqual(first, second) {
  const [a, b] = [Buffer.from(first), Buffer.from(second)];
  return a.length === b.length && timingSafeEqual(a, b);
}

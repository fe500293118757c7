// Adapts Supabase Lite's Storage to hosted Storage, as far as this project needs it.

const OBJECT = "/storage/v1/object/";
const SIGN = "/storage/v1/object/sign/";
const LIST = "/storage/v1/object/list/";

/**
 * Answers a request to /storage/v1/object as hosted Supabase does.
 * @param {Request} request with its whole body
 * @param {(request: Request) => Promise<Response>} forward Supabase Lite
 * @returns {Promise<Response>}
 */
export async function answerStorage(request, forward) {
  const { pathname } = new URL(request.url);
  const isSigning = request.method === "POST" && pathname.startsWith(SIGN);
  // Supabase Lite reads the URL that signs several files as one that signs a file without a name.
  if (isSigning && !pathname.slice(SIGN.length).includes("/")) return signAll(request, forward);

  if (request.method === "POST" && pathname.startsWith(LIST)) return listFolder(request, forward);

  const response = await forward(toLite(request));
  if (!response.ok) return response;
  if (isSigning) return Response.json({ signedURL: await signedUrl(response) });
  return request.method === "GET" || request.method === "HEAD" ? withConditions(request, response) : response;
}

/**
 * The name that hosted Storage gives the operation of a request, which policies read. Empty for operations that no policy here
 * allows, such as copying and moving, and for requests to other services.
 * @param {Request} request
 */
export function storageOperation({ method, url }) {
  const { pathname } = new URL(url);
  const isObject = pathname.startsWith(OBJECT);
  if (method === "GET" && isObject && !pathname.startsWith(SIGN)) return "storage.object.get_authenticated";
  if (method !== "POST") return "";
  if (pathname.startsWith(SIGN)) return "storage.object.sign";
  return pathname.startsWith(LIST) ? "storage.object.list" : "";
}

function toLite(request) {
  const url = new URL(request.url);
  url.pathname = url.pathname
    .replace(/^\/storage\/v1\/object\/authenticated\//, "/storage/v1/object/")
    // Lite decodes a path with decodeURI, which skips these characters; hosted Supabase decodes them, too.
    .replace(/%(?:2[46BC]|3[ABD]|40)/gi, decodeURIComponent);
  const { headers, body, signal } = request;
  // Lite's response to HEAD has no headers of the file.
  const method = request.method === "HEAD" ? "GET" : request.method;
  /** @type {RequestInit & { duplex: "half" }} Node.js requires `duplex` with a stream; the DOM types lack it. */
  const init = { method, headers, body, signal, duplex: "half" };
  return new Request(url, init);
}

/** Hosted Supabase lists one folder: its files, and the folders in it without an id. Lite lists all files below it. */
async function listFolder(request, forward) {
  const { prefix = "", limit = 100, offset = 0 } = (await request.json().catch(() => null)) ?? {};
  const folder = prefix === "" ? "" : `${prefix.replace(/\/$/, "")}/`;
  const entries = new Map();
  for (const file of await allFiles(request, folder, forward)) {
    if (!file.name.startsWith(folder)) continue;
    const [name, ...rest] = file.name.slice(folder.length).split("/");
    if (rest.length === 0) entries.set(name, { ...file, name });
    else entries.set(name, { name, id: null, updated_at: null, created_at: null, metadata: null });
  }
  const sorted = [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return Response.json(sorted.slice(offset, offset + limit));
}

/** All files below a folder, with whole paths as names. */
async function allFiles(request, folder, forward) {
  const page = 1000;
  const files = [];
  while (true) {
    const body = JSON.stringify({ prefix: folder, limit: page, offset: files.length });
    const { url, headers, signal } = request;
    const response = await forward(toLite(new Request(url, { method: "POST", headers, body, signal })));
    if (!response.ok) return files;
    const found = await response.json();
    files.push(...found);
    if (found.length < page) return files;
  }
}

async function signAll(request, forward) {
  const { paths, expiresIn } = (await request.json().catch(() => null)) ?? {};
  if (!Array.isArray(paths) || paths.length === 0 || !paths.every((path) => typeof path === "string")) {
    const error = { statusCode: "400", error: "Error", message: "body must have a list of paths" };
    return Response.json(error, { status: 400 });
  }
  const answers = [];
  for (const path of paths) {
    const signedURL = await signOne(request, path, expiresIn, forward);
    const error = signedURL === null ? "Either the object does not exist or you do not have access to it" : null;
    answers.push({ error, path, signedURL });
  }
  return Response.json(answers);
}

async function signOne(request, path, expiresIn, forward) {
  // Dot segments would lead out of the bucket and past the path check of the gateway.
  if (path.split("/").some((segment) => segment === "." || segment === "..")) return null;
  const url = new URL(request.url);
  url.pathname += `/${path.split("/").map(encodeURIComponent).join("/")}`;
  const { headers, signal } = request;
  const body = JSON.stringify({ expiresIn });
  const response = await forward(toLite(new Request(url, { method: "POST", headers, body, signal })));
  return response.ok ? signedUrl(response) : null;
}

/** Hosted Supabase answers `signedURL`, relative to /storage/v1; Supabase Lite `signedUrl`, relative to the root. */
async function signedUrl(response) {
  return (await response.json()).signedUrl.replace(/^\/storage\/v1/, "");
}

/** Handles If-None-Match and a single byte range, which Supabase Lite does not support. */
async function withConditions(request, response) {
  const headers = new Headers(response.headers);
  const etag = headers.get("etag");
  if (etag !== null && request.headers.get("if-none-match") === etag)
    return new Response(null, { status: 304, headers });

  const bytes = new Uint8Array(await response.arrayBuffer());
  if (request.method === "HEAD") {
    headers.set("content-length", String(bytes.length));
    return new Response(null, { headers });
  }
  const range = parseRange(request.headers.get("range"), bytes.length);
  if (range === undefined) return new Response(bytes, { headers });
  if (range.first > range.last) {
    const error = { statusCode: "416", error: "InvalidRange", message: "The requested range is not satisfiable" };
    return Response.json(error, { status: 416, headers: { "content-range": `bytes */${bytes.length}` } });
  }
  headers.set("content-range", `bytes ${range.first}-${range.last}/${bytes.length}`);
  return new Response(bytes.subarray(range.first, range.last + 1), { status: 206, headers });
}

/**
 * The first and last byte of `bytes=a-b`, `bytes=a-` or `bytes=-n`; first is greater than last if no byte is in the range.
 * undefined, which means the whole file, for anything else, including several ranges.
 */
function parseRange(header, size) {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/i.exec(header ?? "") ?? [];
  if (from === undefined || from + to === "") return undefined;
  if (from === "") return { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (to !== "" && Number(to) < Number(from)) return undefined;
  return { first: Number(from), last: Math.min(size - 1, to === "" ? size - 1 : Number(to)) };
}

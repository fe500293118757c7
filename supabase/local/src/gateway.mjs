import { allowAnyOrigin, answerPreflight } from "./cors.mjs";
import { createQueue } from "./queue.mjs";
import { withVectorLiterals } from "./vector-arguments.mjs";

/** The only paths that lead to Supabase Lite. Its others show a dashboard or, under /_system, its configuration. */
const PUBLIC_PATHS = ["/rest/v1/", "/auth/v1/", "/storage/v1/"];

/**
 * Puts the request handler of Supabase Lite behind what a browser and several users at once need.
 * @param {(request: Request) => Promise<Response>} handle
 * @returns {(request: Request) => Promise<Response>}
 */
export function createGateway(handle) {
  // PGlite is one database session and Supabase Lite does not queue its transactions, so statements of two
  // simultaneous requests would share one transaction, and with it the role and the user of the later one.
  const oneAtATime = createQueue();

  return async (request) => {
    const { pathname } = new URL(request.url);
    if (!PUBLIC_PATHS.some((prefix) => pathname.startsWith(prefix))) {
      return Response.json({ message: "Not found" }, { status: 404 });
    }
    const preflight = answerPreflight(request);
    if (preflight) return preflight;
    // Body read before the request takes its turn: a slow upload must not hold up everybody else.
    const complete = await withCompleteBody(request, pathname);
    const response = await oneAtATime(() => handle(complete));
    // The HTTP server counts the bytes itself and would send the header twice, which strict clients refuse.
    response.headers.delete("content-length");
    allowAnyOrigin(response);
    return isSigning(complete, pathname, response) ? withSignedUrl(response) : response;
  };
}

async function withCompleteBody(request, pathname) {
  if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS") return request;
  const isRestJson =
    pathname.startsWith("/rest/v1/") && (request.headers.get("content-type") ?? "").includes("application/json");
  const body = isRestJson ? withVectorLiterals(await request.text()) : await request.arrayBuffer();
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return new Request(request.url, { method: request.method, headers, body });
}

function isSigning(request, pathname, response) {
  return request.method === "POST" && pathname.startsWith("/storage/v1/object/sign/") && response.ok;
}

/** Supabase answers `signedURL`, relative to /storage/v1; Supabase Lite answers `signedUrl`, relative to the root. */
async function withSignedUrl(response) {
  const answer = await response.json();
  const signedURL = answer.signedUrl?.replace(/^\/storage\/v1/, "");
  return new Response(JSON.stringify({ ...answer, signedURL }), { status: response.status, headers: response.headers });
}

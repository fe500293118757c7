import { allowAnyOrigin, answerPreflight } from "./cors.mjs";
import { answerStorage } from "./storage-dialect.mjs";
import { withClaims } from "./token-claims.mjs";

/** Only these paths reach Supabase Lite. Its other paths serve a dashboard or, under /_system, its configuration. */
const PUBLIC_PATHS = ["/rest/v1/", "/auth/v1/", "/storage/v1/"];

/**
 * Adapts the request handler of Supabase Lite to browsers and to several simultaneous users.
 * @param {(request: Request) => Promise<Response>} handle
 * @param {object} tokens
 * @param {string} tokens.issuer `iss` of access tokens
 * @param {string} tokens.secret signs them
 * @param {ReturnType<typeof import("./anonymous-users.mjs").createAnonymousUsers>} anonymousUsers
 * @returns {(request: Request) => Promise<Response>}
 */
export function createGateway(handle, { issuer, secret }, anonymousUsers) {
  const addedClaims = async (claims) => ({ iss: issuer, ...(await anonymousUsers.claimsOf(claims)) });

  return async (request) => {
    const { pathname } = new URL(request.url);
    if (!PUBLIC_PATHS.some((prefix) => pathname.startsWith(prefix))) {
      return Response.json({ message: "Not found" }, { status: 404 });
    }
    const preflight = answerPreflight(request);
    if (preflight) return preflight;
    // Reads the body before the request enters the queue, so that a slow upload does not block other requests.
    const complete = await withCompleteBody(request);
    const response = await answer(complete, pathname);
    allowAnyOrigin(response);
    return response;
  };

  async function answer(request, pathname) {
    if (pathname.startsWith("/auth/v1/")) {
      const response = (await anonymousUsers.answer(request, forward)) ?? (await forward(request));
      return withClaims(response, secret, addedClaims);
    }
    if (pathname.startsWith("/storage/v1/object/")) return answerStorage(request, forward);
    return forward(request);
  }

  async function forward(request) {
    const response = await handle(request);
    // The HTTP server counts the bytes itself and would send the header twice, which strict clients reject.
    response.headers.delete("content-length");
    return response;
  }
}

async function withCompleteBody(request) {
  if (request.method === "GET" || request.method === "HEAD" || request.method === "OPTIONS") return request;
  const body = await request.arrayBuffer();
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return new Request(request.url, { method: request.method, headers, body });
}

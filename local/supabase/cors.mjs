// Hosted Supabase lets pages of every origin call it: keys and tokens control access, not cookies.

/**
 * Answers a CORS preflight for every origin and every requested header. Supabase Lite omits the headers for /auth/v1, and
 * browsers then refuse to send `apikey`.
 * @param {Request} request
 * @returns {Response | undefined} undefined if the request is not a preflight
 */
export function answerPreflight(request) {
  if (request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) return undefined;
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": "86400",
    },
  });
}

/**
 * Lets a page of any origin read the response. Supabase Lite omits the header from errors of /auth/v1, so a wrong password
 * would look like a network failure.
 * @param {Response} response
 */
export function allowAnyOrigin(response) {
  response.headers.set("access-control-allow-origin", "*");
}

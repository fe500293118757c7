// Hosted Supabase lets pages of every origin call it: access is a matter of keys and tokens, not of cookies.

/**
 * Answers a CORS preflight for every origin and every header asked for. Supabase Lite leaves the headers out for
 * /auth/v1, and browsers then refuse to send `apikey`.
 * @param {Request} request
 * @returns {Response | undefined} undefined when the request is no preflight
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
 * Lets a page of any origin read the response. Supabase Lite forgets this for errors of /auth/v1, and a wrong password
 * would look like a network failure.
 * @param {Response} response
 */
export function allowAnyOrigin(response) {
  response.headers.set("access-control-allow-origin", "*");
}

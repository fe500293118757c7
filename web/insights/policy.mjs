/**
 * The Content-Security-Policy of the insights page: scripts and styles only from this origin and never inline.
 * @param {string} connections the origins that it may connect to besides its own: that of the Supabase project, or a scheme
 */
export function insightsPolicy(connections) {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${connections}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

/** The address of a script that a Worker serves. */
const SERVED_SCRIPT = /^(https?:\/\/[^/]+)\/evidence-chat\.js([?#]|$)/;

/**
 * The API of the Worker that serves `/evidence-chat.js`, by the address of that script. Empty for a copy elsewhere: in a
 * bundle, a folder of the site, or on a CDN. Bundles of CommonJS modules, which servers use, have no address.
 */
export function defaultEndpoint(script: string | undefined): string {
  const origin = SERVED_SCRIPT.exec(script ?? "")?.[1];
  return origin === undefined ? "" : `${origin}/api/chat`;
}

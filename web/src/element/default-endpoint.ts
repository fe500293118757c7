/**
 * The API of the Worker that serves `/evidence-chat.js`, by the address of that script. Empty for a copy elsewhere: in a
 * bundle, a folder of the site, or on a CDN.
 */
export function defaultEndpoint(script: string): string {
  const { protocol, pathname, origin } = new URL(script);
  return protocol.startsWith("http") && pathname === "/evidence-chat.js" ? `${origin}/api/chat` : "";
}

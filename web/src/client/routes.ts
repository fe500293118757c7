/**
 * The URL of another route of the API, beside POST /api/chat; `path` is relative to /api/. In a page, an endpoint may be
 * relative to it.
 */
export function apiUrl(
  endpoint: string,
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const chat = new URL(endpoint, globalThis.document?.baseURI);
  const url = new URL(path, chat.href.replace(/[?#].*$/, "").replace(/\/+$/, ""));
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}

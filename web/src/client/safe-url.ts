/** The URL schemes that each place allows; a URL of another scheme (`javascript:`, `data:`) is dropped. */
const SCHEMES = {
  /** What a server may send as an address. */
  web: new Set(["https:", "http:"]),
  /** What a document or the page may link to. */
  link: new Set(["https:", "http:", "mailto:"]),
  /** What the widget may put into `href`; a `blob:` is a file that the widget made itself. */
  href: new Set(["https:", "http:", "mailto:", "blob:"]),
} as const;

/** The URL if it is absolute http or https and has no user name or password in it. */
export function safeUrl(value: unknown): string | undefined {
  return allowedUrl(value, "web");
}

/** The URL if it is a web page or a mail address. */
export function safeLink(value: unknown): string | undefined {
  return allowedUrl(value, "link");
}

/** The URL if it may stand in an `href` of the widget. */
export function safeHref(value: unknown): string | undefined {
  return allowedUrl(value, "href");
}

function allowedUrl(value: unknown, place: keyof typeof SCHEMES): string | undefined {
  if (typeof value !== "string") return undefined;
  try {
    const url = new URL(value);
    // A link with a password in it would hand the password to every reader.
    return SCHEMES[place].has(url.protocol) && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

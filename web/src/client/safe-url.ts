// The schemes that each place allows; a URL of another one (`javascript:`, `data:`) is dropped.
/** Schemes of addresses that a server may send. */
const WEB = new Set(["https:", "http:"]);
/** Schemes that a document or the page may link to. */
const LINK = new Set(["https:", "http:", "mailto:"]);
/** Schemes that the widget may put into `href`; a `blob:` is a file that the widget made itself. */
const HREF = new Set(["https:", "http:", "mailto:", "blob:"]);

/** The URL if it is absolute http or https and has no user name or password in it. */
export function safeUrl(value: unknown): string | undefined {
  return allowedUrl(value, WEB);
}

/** The URL if it is a web page or a mail address. */
export function safeLink(value: unknown): string | undefined {
  return allowedUrl(value, LINK);
}

/** The URL if it may stand in an `href` of the widget. */
export function safeHref(value: unknown): string | undefined {
  return allowedUrl(value, HREF);
}

function allowedUrl(value: unknown, schemes: ReadonlySet<string>): string | undefined {
  if (typeof value !== "string") return undefined;
  try {
    const url = new URL(value);
    // A link with a password in it would hand the password to every reader.
    return schemes.has(url.protocol) && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

// The page of entry.ts: the list of conversations, with a fake of the API routes that it needs.
import { startPageSite } from "../../support/page-site.mjs";

const HTML = `<!doctype html><html lang="en"><title>history</title><link rel="stylesheet" href="/main.css">
<meta name="viewport" content="width=device-width">`;

/** The API's export of a user's data; `list` are the conversations. */
export const exportOf = (list) =>
  JSON.stringify({
    exported_at: "2026-11-22T09:15:27Z",
    sessions: list.map((session) => ({ ...session, messages: [] })),
    refused_questions: [{ id: "r1", question: "Where is the bear?", reason: "no_match" }],
  });

const CSS = "body { margin: 0 } main { display: block; height: 100vh }";

/** The time in the page when it opens, in milliseconds since 1970: noon, so that the hours before are of the same day. */
export const NOON = new Date(2026, 5, 15, 12).getTime();

/** `count` conversations an hour apart, the newest first. */
export function sessions(count, /** @type {(index: number) => object} */ fields = () => ({})) {
  return Array.from({ length: count }, (_, at) => {
    const updated_at = new Date(NOON - at * 3_600_000 - 60_000).toISOString();
    return { id: `s${at + 1}`, title: `Conversation ${at + 1}`, created_at: updated_at, updated_at, ...fields(at) };
  });
}

/**
 * Starts the site. `lists` are the conversations by token; `fail(method)` makes the next such request fail, `hold(method)`
 * delays it until the returned function is called, and `cutExport("off" | "short")` truncates the next export.
 */
export async function startHistorySite() {
  const site = { lists: {}, requests: [] };
  const faults = new Map();
  let cut;
  site.fail = (method, status = 500, headers = {}) => faults.set(method, async () => ({ status, headers }));
  site.cutExport = (how) => (cut = how);
  site.hold = (method) => {
    const { promise, resolve } = Promise.withResolvers();
    faults.set(method, () => promise);
    return resolve;
  };

  const respond = async (request, response) => {
    const url = new URL(request.url, "http://x");
    let body = "";
    for await (const piece of request) body += piece;
    const token = request.headers.authorization?.replace("Bearer ", "");
    const { method } = request;
    site.requests.push({ method, path: url.pathname, token, body: body && JSON.parse(body) });
    const fault = faults.get(method);
    faults.delete(method);
    const outcome = await fault?.();
    const { status, headers } = typeof outcome === "object" ? outcome : { status: outcome, headers: {} };
    if (status >= 400) return send(response, status, faultOf(status), headers);
    if (url.pathname === "/api/me/export") {
      sendExport(response, exportOf(site.lists[token] ?? []), cut);
      cut = undefined;
    } else if (method === "DELETE" && url.pathname === "/api/me") {
      site.lists[token] = [];
      response.writeHead(204).end();
    } else answer(response, { method, url, body: body && JSON.parse(body), list: (site.lists[token] ??= []) });
  };
  const { origin, close } = await startPageSite(new URL("entry.ts", import.meta.url), {
    html: HTML,
    css: CSS,
    policy: "style-src 'self'; connect-src 'self'",
    respond,
  });
  return Object.assign(site, { origin, close });
}

function answer(response, { method, url, body, list }) {
  const at = list.findIndex(({ id }) => url.pathname === `/api/sessions/${id}`);
  if (method === "GET" && url.pathname === "/api/sessions") {
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const to = from + Number(url.searchParams.get("limit"));
    send(response, 200, { sessions: list.slice(from, to), next_cursor: to < list.length ? String(to) : null });
  } else if (at < 0) {
    send(response, 404, { code: "not_found", message: "Not there.", retryable: false });
  } else if (method === "PATCH") {
    list[at] = { ...list[at], title: body.title };
    send(response, 200, list[at]);
  } else {
    list.splice(at, 1);
    response.writeHead(204).end();
  }
}

/** Half of the export if it is truncated: "off" with a connection error, "short" without. */
function sendExport(response, text, cut) {
  response.writeHead(200, {
    "content-type": "application/json",
    "content-disposition": 'attachment; filename="evidence-chat-export.json"',
  });
  if (cut === undefined) return response.end(text);
  response.write(text.slice(0, text.length / 2));
  if (cut === "short") response.end();
  else setTimeout(() => response.destroy(), 50);
}

function faultOf(status) {
  if (status === 429) return { code: "rate_limited", message: "Slow down.", retryable: true };
  if (status === 503) return { code: "upstream_unavailable", message: "Down.", retryable: true };
  return { code: "internal", message: "Broken.", retryable: false };
}

function send(response, status, json, headers = {}) {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(json));
}

import { listen } from "../../tests/lib/listen.mjs";

/** A loopback server that answers each request with the next of `handlers` and records the requests. */
export async function chatServer(...handlers) {
  const requests = [];
  const respond = async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push({ method: request.method, path: request.url, headers: request.headers, body });
    const handler = handlers.shift();
    if (handler) await handler(response);
    else response.writeHead(500).end();
  };
  const { origin, close } = await listen(respond);
  return { endpoint: `${origin}/api/chat`, requests, close };
}

/** Answers with an event stream of `[name, data]` pairs, and ends it. */
export function events(...pairs) {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.end(
      pairs.map(([name, data]) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`).join(""),
    );
  };
}

/** Answers with a status and JSON. */
export function json(status, body, headers = {}) {
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

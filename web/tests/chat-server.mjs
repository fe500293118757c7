import { once } from "node:events";
import { createServer } from "node:http";

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
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    endpoint: `http://127.0.0.1:${port}/api/chat`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
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

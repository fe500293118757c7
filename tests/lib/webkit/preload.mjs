// Scripts that run before those of a page. WebDriver has none for pages that load, so the servers of the tests insert them.
const PATH = "/webdriver-preload.js";

/** The scripts of the next pages: source code by id. */
export const preloadScripts = new Map();

let isActive = false;

/** From now on, `withPreload` inserts the scripts. */
export function activatePreload() {
  isActive = true;
}

/** A request handler that answers as `handler` does, and loads the scripts first in every page. */
export function withPreload(handler) {
  return (request, response) => {
    if (!isActive) return handler(request, response);
    if (new URL(request.url, "http://x").pathname === PATH) {
      const script = [...preloadScripts.values()].join("\n;\n");
      return response.writeHead(200, { "content-type": "text/javascript", "cache-control": "no-store" }).end(script);
    }
    insertInto(response);
    return handler(request, response);
  };
}

/** Inserts the script's tag before the first bytes of an HTML page. */
function insertInto(response) {
  const { writeHead, write, end } = response;
  const tag = `<!doctype html><script src="${PATH}"></script>`;
  let isPage = false;
  let hasBegun = false;
  const begin = () => {
    if (hasBegun) return false;
    hasBegun = true;
    return isPage;
  };
  response.writeHead = (status, ...rest) => {
    const given = rest.findLast((value) => typeof value === "object") ?? {};
    const headers = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
    const type = headers["content-type"] ?? response.getHeader("content-type");
    isPage = /^text\/html/.test(String(type)) && status === 200;
    if (isPage) {
      delete headers["content-length"];
      response.removeHeader("content-length");
    }
    return writeHead.call(response, status, headers);
  };
  const ensureHead = () => {
    if (!response.headersSent) response.writeHead(response.statusCode);
  };
  response.write = (...args) => {
    ensureHead();
    if (begin()) write.call(response, tag);
    return write.apply(response, args);
  };
  response.end = (...args) => {
    ensureHead();
    if (begin()) write.call(response, tag);
    return end.apply(response, args);
  };
}

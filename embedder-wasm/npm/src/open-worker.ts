import type { OpenPort, Port, PortEvents } from "./protocol.js";

/** An engine in a Web Worker; `url` is `undefined` for the package's own script. */
export function openWorker(url: string | undefined): OpenPort {
  return ({ reply, died }: PortEvents): Port => {
    const { worker, release } = startWorker(url);
    worker.onmessage = ({ data }) => {
      release();
      reply(data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      release();
      died(event.message ?? "");
    };
    worker.onmessageerror = () => died("its reply could not be read");
    return {
      post: (request) => worker.postMessage(request),
      close: () => {
        worker.terminate();
        release();
      },
    };
  };
}

/**
 * A worker's script must have the page's own origin, so one from elsewhere (a CDN) is imported by a small module that
 * does. `release` frees that module; it is needed until the worker runs.
 */
function startWorker(url: string | undefined): { worker: Worker; release: () => void } {
  const isForeign = url !== undefined && new URL(url).origin !== globalThis.location?.origin;
  if (!isForeign) {
    const worker =
      url === undefined
        ? // Bundlers find the worker by this exact form.
          new Worker(new URL("./worker.js", import.meta.url), { type: "module" })
        : new Worker(url, { type: "module" });
    return { worker, release: () => undefined };
  }
  const source = new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" });
  const shim = URL.createObjectURL(source);
  return { worker: new Worker(shim, { type: "module" }), release: () => URL.revokeObjectURL(shim) };
}

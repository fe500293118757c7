import { EmbedderError } from "./errors.js";
import type { OpenPort, Port, PortEvents, Reply } from "./protocol.js";
import { hasTrustedTypes, POLICY_NAME, trustWorkerUrl } from "./worker-policy.js";

/** Opens an engine in a Web Worker; `url` is `undefined` for the package's own script. */
export function openWorker(url: string | undefined): OpenPort {
  return ({ reply, died }: PortEvents): Port => {
    const worker = startWorker(url);
    worker.onmessage = ({ data }: MessageEvent<Reply>) => reply(data);
    worker.onerror = (event) => {
      event.preventDefault();
      died(event.message ?? "");
    };
    worker.onmessageerror = () => died("its reply could not be read");
    return {
      post: (request) => worker.postMessage(request),
      close: () => worker.terminate(),
    };
  };
}

/**
 * Starts a module worker from any origin that allows CORS. Throws `blocked` if the page requires a
 * trusted URL and forbids the policy that creates one.
 */
function startWorker(customUrl: string | undefined): Worker {
  const url = customUrl ?? new URL("./worker.js", import.meta.url).href;
  const trusted = trustWorkerUrl(isCrossOrigin(url) ? shimFor(url) : url);
  try {
    // Bundlers detect the package's worker only in this exact form.
    if (customUrl === undefined && trusted === url)
      return new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    return new Worker(trusted, { type: "module" });
  } catch (cause) {
    if (!(hasTrustedTypes() && cause instanceof TypeError)) throw cause;
    throw new EmbedderError(
      "blocked",
      `The Content-Security-Policy forbids the worker. Add ${POLICY_NAME} to its trusted-types directive, and ` +
        "'allow-duplicates' where the page loads several versions of this package.",
      { cause },
    );
  }
}

/** Some bundlers (Turbopack) give the package's own files URLs without an origin: they are the page's. */
function isCrossOrigin(url: string): boolean {
  return new URL(url, globalThis.location?.href).origin !== globalThis.location?.origin;
}

const shims = new Map<string, string>();

/**
 * A worker's script must have the page's origin, so a script from elsewhere (a CDN) is imported by
 * a small module that has it. The module is kept for other workers.
 */
function shimFor(url: string): string {
  let shim = shims.get(url);
  if (shim === undefined) {
    shim = URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }));
    shims.set(url, shim);
  }
  return shim;
}

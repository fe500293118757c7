import { EmbedderError } from "./errors.js";
import type { OpenPort, Port, PortEvents, Reply } from "./protocol.js";
import { hasTrustedTypes, POLICY_NAME, trustedUrl } from "./trusted-url.js";

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

/** Throws `blocked` if the page requires a trusted URL and forbids the policy that creates one. */
function startWorker(given: string | undefined): Worker {
  const url = given ?? new URL("./worker.js", import.meta.url).href;
  const script = isCrossOrigin(url) ? shimFor(url) : url;
  const trusted = trustedUrl(script);
  try {
    // Bundlers detect the worker only in this exact form.
    if (given === undefined && trusted === url)
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

function isCrossOrigin(url: string): boolean {
  return new URL(url).origin !== globalThis.location?.origin;
}

const shims = new Map<string, string>();

/**
 * A worker's script must have the page's origin, so a script from elsewhere (a CDN) is imported by a small module that
 * has it. The module is kept for other workers.
 */
function shimFor(url: string): string {
  let shim = shims.get(url);
  if (shim === undefined) {
    shim = URL.createObjectURL(new Blob([`import ${JSON.stringify(url)};`], { type: "text/javascript" }));
    shims.set(url, shim);
  }
  return shim;
}

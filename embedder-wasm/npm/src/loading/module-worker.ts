import { LoadingError } from "./errors.js";
import { hasTrustedTypes, type WorkerPolicy } from "./trusted-url.js";

/**
 * Starts a module worker from any origin that allows CORS. `startOwn` starts the package's own worker without a trusted
 * URL: bundlers detect it only in the exact form `new Worker(new URL("./worker.js", import.meta.url), …)`. Throws
 * `blocked` if the page requires a trusted URL and forbids the policy that creates one.
 */
export function startModuleWorker(url: string, policy: WorkerPolicy, startOwn?: () => Worker): Worker {
  const script = isCrossOrigin(url) ? shimFor(url) : url;
  const trusted = policy.trust(script);
  try {
    return startOwn && trusted === url ? startOwn() : new Worker(trusted, { type: "module" });
  } catch (cause) {
    if (!(hasTrustedTypes() && cause instanceof TypeError)) throw cause;
    throw new LoadingError(
      "blocked",
      `The Content-Security-Policy forbids the worker. Add ${policy.name} to its trusted-types directive, and ` +
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

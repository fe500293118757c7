import { EmbedderError, messageOf } from "./errors.js";

/**
 * Starts the module worker. A worker script must have the page's own origin, so one that comes from elsewhere (a CDN)
 * is imported by a small module that does. `release` frees that module once the worker runs.
 */
export function startWorker(url: URL): { worker: Worker; release: () => void } {
  const shim = url.origin === globalThis.location?.origin ? null : importingModule(url);
  const release = () => {
    if (shim) URL.revokeObjectURL(shim);
  };
  let readsType = false;
  const options: WorkerOptions = {
    // Browsers without module workers never read this option and would fail later, with a syntax error.
    get type() {
      readsType = true;
      return "module" as const;
    },
    name: "evidence-chat-embedder",
  };
  try {
    const worker = new Worker(shim ?? url, options);
    if (readsType) return { worker, release };
    worker.terminate();
  } catch (thrown) {
    release();
    throw new EmbedderError("initialization_failed", `The AI worker could not be started: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
  release();
  throw new EmbedderError("unsupported_browser", "This browser cannot run module workers.");
}

function importingModule(url: URL): string {
  const source = `import ${JSON.stringify(url.href)};`;
  return URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
}

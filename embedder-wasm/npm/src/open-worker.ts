import { startModuleWorker } from "./loading/module-worker.js";
import { WorkerPolicy } from "./loading/trusted-url.js";
import type { OpenPort, Port, PortEvents, Reply } from "./protocol.js";

/** The version in package.json, filled in by the build. */
declare const PACKAGE_VERSION: string;

const policy = new WorkerPolicy("evidence-chat-embedder", PACKAGE_VERSION);

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

function startWorker(url: string | undefined): Worker {
  if (url !== undefined) return startModuleWorker(url, policy);
  // Bundlers detect the worker only in this exact form.
  const startOwn = () => new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return startModuleWorker(new URL("./worker.js", import.meta.url).href, policy, startOwn);
}

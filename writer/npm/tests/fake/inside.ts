/** What tests in Node.js use, in one bundle: the engine in the calling thread. */
import { WriterClient } from "../../src/client.js";
import { EngineServer } from "../../src/engine-server.js";
import { readOptions, type WriterOptions } from "../../src/options.js";
import type { OpenPort, Request } from "../../src/protocol.js";

export * from "../../src/index.js";

/** What the page has sent. */
export const requests: Request[] = [];

/** Like `createWriter`, with the engine in this thread. `die` receives a function that ends the engine. */
export function createWriter(options: WriterOptions, die: (end: (reason: string) => void) => void = () => undefined) {
  const open: OpenPort = ({ reply, died }) => {
    let isOpen = true;
    die((reason) => died(reason));
    const server = new EngineServer((message) => queueMicrotask(() => isOpen && reply(structuredClone(message))));
    return {
      post(request) {
        requests.push(request);
        server.handle(structuredClone(request));
      },
      close() {
        isOpen = false;
      },
    };
  };
  return WriterClient.load(open, readOptions(options));
}

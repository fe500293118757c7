import { EngineServer } from "./engine-server.js";
import type { Port, PortEvents } from "./protocol.js";

/** An engine in this thread. Replies are asynchronous, as with a worker, so a callback cannot disturb the engine. */
export function openInlinePort({ reply }: PortEvents): Port {
  let isOpen = true;
  const server = new EngineServer((message) =>
    queueMicrotask(() => {
      if (isOpen) reply(message);
    }),
  );
  return {
    post: (request) => server.handle(request),
    close() {
      isOpen = false;
      server.stop();
    },
  };
}

import { EngineServer } from "./engine-server.js";
import type { Port, PortEvents } from "./protocol.js";

/** An engine in this thread. As with a worker, what the caller does on a reply cannot get in the engine's way. */
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

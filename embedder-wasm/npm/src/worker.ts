/** The worker's script: an engine that exchanges messages with the page. */
import { EngineServer } from "./engine-server.js";
import type { Request } from "./protocol.js";

/** The DOM types declare `self` only as a window. */
const page = self as unknown as Pick<Worker, "addEventListener" | "postMessage">;

// Chromium makes its list of languages once for page and workers, which takes 25 ms of a fast
// processor. Here it does not block the thread of the page, which shows the progress in numbers.
Intl.NumberFormat.supportedLocalesOf("en");

const server = new EngineServer((reply) => {
  const isEmbedded = reply.type === "embedded";
  const transfer = isEmbedded ? [reply.vectors.buffer, reply.tokens.buffer, reply.truncated.buffer] : [];
  page.postMessage(reply, transfer);
});
page.addEventListener("message", ({ data }: MessageEvent<Request>) => server.handle(data));

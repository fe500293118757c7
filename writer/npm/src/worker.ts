/** The worker's script: an engine that exchanges messages with the page. */
import { EngineServer } from "./engine-server.js";
import type { Request } from "./protocol.js";

/** The DOM types declare `self` only as a window. */
const page = self as unknown as Pick<Worker, "addEventListener" | "postMessage">;

const server = new EngineServer((reply) => page.postMessage(reply));
page.addEventListener("message", ({ data }: MessageEvent<Request>) => server.handle(data));

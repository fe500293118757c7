/** The worker's script: an engine that talks to the page. */
import { EngineServer } from "./engine-server.js";
import type { Request } from "./protocol.js";

/** The worker's end of the channel; the DOM types know `self` only as a window. */
const page = self as unknown as Pick<Worker, "addEventListener" | "postMessage">;

const server = new EngineServer((reply, transfer = []) => page.postMessage(reply, transfer));
page.addEventListener("message", ({ data }: MessageEvent<Request>) => server.handle(data));

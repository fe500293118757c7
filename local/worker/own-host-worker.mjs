// The built Worker under the names of this computer only. Any site may point its own name here (DNS rebinding), and then read
// the keys of the project in the answer.
import * as built from "./index.js";

export const { UserGate } = built;

export default class extends built.default {
  /** @override */
  async fetch(request) {
    const isOwn = ["127.0.0.1", "localhost"].includes(new URL(request.url).hostname);
    if (!isOwn) return new Response("This server answers as 127.0.0.1 or localhost only.", { status: 421 });
    return super.fetch(request);
  }
}

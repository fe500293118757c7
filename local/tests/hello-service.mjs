// A minimal local service. With FAIL set, it throws instead of starting.
import { createServer } from "node:http";
import { listen, runService } from "../service.mjs";

await runService({
  async serve(port, ready) {
    if (process.env.FAIL) throw new TypeError(process.env.FAIL);
    const server = createServer((_request, response) => response.end("hello"));
    await ready(await listen(server, port));
    console.log("cleaned up");
  },
});

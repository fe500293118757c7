// Loading a model in this thread, with a fake engine and a simulated server.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../../tests/lib/listen.mjs";
import { importFakePackage, MODEL, sha256 } from "./fake/package.mjs";

let fake, server, respond;
const requests = [];
const cleanups = [];

before(async () => {
  fake = await importFakePackage({ after: (cleanup) => cleanups.push(cleanup) });
  server = await listen((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.range ?? ""}`.trim());
    return respond(request, response);
  });
});

after(async () => {
  await server?.close();
  for (const cleanup of cleanups) await cleanup();
});

const whole = (request, response) => {
  response.writeHead(200, { "content-length": MODEL.length, "accept-ranges": "bytes", etag: '"1"' });
  response.end(request.method === "HEAD" ? undefined : MODEL);
};
const sending = (bytes) => (_request, response) =>
  response.writeHead(200, { "content-length": bytes.length }).end(bytes);

/** Loads the model from the server; gives the outcome. */
async function load(more = {}, handler = whole) {
  respond = handler;
  requests.length = 0;
  const progress = [];
  try {
    const writer = await fake.createWriter({
      modelUrl: `${server.origin}/a%20model.gguf`,
      wasmUrl: new URL("writer_bg.wasm", fake.url),
      onProgress: (report) => progress.push(report),
      ...more,
    });
    const { ending } = await writer.write([{ role: "user", content: "Hello" }]);
    await writer.dispose();
    return { name: writer.name, ending, progress };
  } catch (error) {
    const { code, message } = /** @type {import("../src/index.ts").WriterError} */ (error);
    return { code, message };
  }
}
const alive = () => /** @type {any} */ (globalThis).fakeWriter.alive;

describe("a model file", () => {
  test("is loaded with its hash checked, and named after the file", async () => {
    const outcome = await load({ model: { byteLength: MODEL.length, sha256: sha256(MODEL).toUpperCase() } });
    assert.deepEqual([outcome.name, outcome.ending], ["a model", "stop"]);
    assert.deepEqual(requests, ["GET /a%20model.gguf"]);
    const total = { loadedBytes: MODEL.length, totalBytes: MODEL.length, isCached: false };
    assert.deepEqual(outcome.progress.at(-1), total);
    assert.ok(
      outcome.progress.every(({ loadedBytes }, index, all) => loadedBytes >= (all[index - 1]?.loadedBytes ?? 0)),
    );
  });

  test("whose size is unknown is asked for with HEAD", async () => {
    assert.equal((await load({ model: { name: "mine" } })).name, "mine");
    assert.deepEqual(requests, ["HEAD /a%20model.gguf", "GET /a%20model.gguf"]);
    assert.equal(await fake.modelSize(`${server.origin}/x.gguf`), MODEL.length);
  });

  test("whose size no one tells fails and says what to set", async () => {
    const { code, message } = await load({}, (_request, response) => {
      response.writeHead(200, { "transfer-encoding": "chunked" }).end();
    });
    assert.equal(code, "download_failed");
    assert.match(message, /model\.byteLength/);
  });

  test("a dropped download is resumed", async () => {
    let isFirst = true;
    const outcome = await load({ model: { byteLength: MODEL.length, sha256: sha256(MODEL) } }, (request, response) => {
      if (!isFirst) {
        const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range)?.[1]);
        const rest = MODEL.subarray(start);
        const range = { "content-range": `bytes ${start}-${MODEL.length - 1}/${MODEL.length}` };
        return response.writeHead(206, { "content-length": rest.length, ...range }).end(rest);
      }
      isFirst = false;
      response.writeHead(200, { "content-length": MODEL.length, "accept-ranges": "bytes", etag: '"1"' });
      response.write(MODEL.subarray(0, 1_000_000), () => setTimeout(() => response.destroy(), 50));
    });
    assert.equal(outcome.ending, "stop");
    assert.match(requests[1], /bytes=\d+-/);
  });

  /** @type {[string, object, (request, response) => unknown, string, RegExp][]} */
  const faults = [
    ["is not there", {}, (_r, response) => response.writeHead(404).end(), "download_failed", /status 404/],
    ["is another one", { sha256: "0".repeat(64) }, whole, "integrity", /SHA-256 is .* instead of 000/],
    ["has another size", { byteLength: 10 }, whole, "integrity", /bytes instead of 10/],
    ["is no GGUF file", {}, sending(Buffer.alloc(1000)), "invalid_model", /not a GGUF/],
    ["does not fit into memory", {}, sending(Buffer.from("TRAP…")), "out_of_memory", /device's memory/],
    [
      "is a web page",
      { byteLength: 10 },
      (_r, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      "download_failed",
      /web page/,
    ],
  ];
  for (const [name, model, handler, code, message] of faults) {
    test(`that ${name} rejects with ${code}`, async () => {
      const before = { ...alive() };
      const outcome = await load({ model }, handler);
      assert.equal(outcome.code, code, outcome.message);
      assert.match(outcome.message, message);
      // A trapped module cannot free anything.
      if (code !== "out_of_memory") assert.deepEqual(alive(), before);
    });
  }

  test("loading can be aborted during the download", async () => {
    const aborting = new AbortController();
    const outcome = await load(
      { model: { byteLength: MODEL.length }, signal: aborting.signal, onProgress: () => aborting.abort() },
      (_request, response) => {
        response.writeHead(200, { "content-length": MODEL.length });
        response.write(MODEL.subarray(0, 1_000_000));
      },
    );
    assert.equal(outcome.code, "aborted", outcome.message);
    assert.equal((await load({ signal: AbortSignal.abort() })).code, "aborted");
  });

  test("a download without progress fails with timeout", async () => {
    const silent = () => undefined;
    const { code, message } = await load({ model: { byteLength: MODEL.length }, timeoutMs: 50 }, silent);
    assert.equal(code, "timeout");
    assert.match(message, /0\.05 seconds/);
  });

  test("is loaded while the WebAssembly file arrives slowly", async () => {
    const slow = async (request, response) => {
      if (!request.url.endsWith(".wasm")) return whole(request, response);
      response.writeHead(200, { "content-type": "application/wasm" });
      for (const chunk of [[0, 0x61, 0x73, 0x6d], ...Array(28).fill([0])]) {
        response.write(Buffer.from(chunk));
        await sleep(90);
      }
      response.end();
    };
    const options = {
      wasmUrl: `${server.origin}/writer_bg.wasm`,
      model: { byteLength: MODEL.length },
      timeoutMs: 2000,
    };
    const outcome = await load(options, (...exchange) => void slow(...exchange));
    assert.equal(outcome.ending, "stop", outcome.message);
  });
});

describe("options", () => {
  test("that are wrong reject with invalid_input before anything is loaded", async () => {
    for (const more of [
      { modelUrl: "http://[" },
      { timeoutMs: 0 },
      { model: { byteLength: -1 } },
      { model: { sha256: "abc" } },
    ]) {
      const { code } = await load(more);
      assert.equal(code, "invalid_input", JSON.stringify(more));
      assert.deepEqual(requests, []);
    }
  });

  test("a damaged WebAssembly file rejects with integrity, a missing one with download_failed", async () => {
    const wasmUrl = new URL("damaged.wasm", fake.url);
    assert.equal((await load({ wasmUrl, model: { byteLength: MODEL.length } })).code, "download_failed");
    await writeFile(wasmUrl, "damaged");
    assert.equal((await load({ wasmUrl, model: { byteLength: MODEL.length } })).code, "integrity");
  });
});

test("a cached file of another size is not the model", async () => {
  const match = async () => new Response(MODEL, { headers: { "content-length": String(MODEL.length) } });
  const page = /** @type {any} */ (globalThis);
  page.caches = { open: async () => ({ match }) };
  try {
    const url = `${server.origin}/model.gguf`;
    const known = [undefined, MODEL.length, MODEL.length + 1].map((length) => fake.hasModel(url, length));
    assert.deepEqual(await Promise.all(known), [true, true, false]);
  } finally {
    delete page.caches;
  }
});

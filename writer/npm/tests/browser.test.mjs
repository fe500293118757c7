// Web Worker, Cache API and Content-Security-Policy in Chromium, with a fake engine and a small model. The browser's own
// model, which a headless Chromium lacks, is scripted.
import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { listen } from "../../../tests/lib/listen.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { buildFakePackage, MODEL, sha256 } from "./fake/package.mjs";

const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; " +
  "require-trusted-types-for 'script'; trusted-types evidence-chat-writer";
const TYPES = { js: "text/javascript", wasm: "application/wasm" };

const files = await buildFakePackage();

/** Serves the package, a page and the model; `site.requests` are the paths of the model's requests. */
async function startSite() {
  const requests = [];
  const site = { requests, headers: {}, model: MODEL };
  const server = await listen((request, response) => {
    const name = request.url.slice(1);
    const headers = { "content-security-policy": POLICY, ...site.headers };
    if (name === "") return response.writeHead(200, { ...headers, "content-type": "text/html" }).end("<!doctype html>");
    if (name === "model.gguf") {
      requests.push(request.method);
      response.writeHead(200, { ...headers, "content-length": site.model.length });
      return response.end(request.method === "HEAD" ? undefined : site.model);
    }
    const file = files.get(name.replace(/^writer\//, ""));
    if (!file) return response.writeHead(404, headers).end();
    return response.writeHead(200, { ...headers, "content-type": TYPES[name.split(".").pop()] }).end(file);
  });
  return Object.assign(site, server);
}

const { site, page } = await startSuite(startSite);

beforeEach(async () => {
  Object.assign(site, { headers: {}, model: MODEL });
  site.requests.length = 0;
  page.errors.length = 0;
  await page.goto(site.origin);
  await page.evaluate(() => globalThis.caches?.delete("evidence-chat-writer"));
});

/** Loads the model in the page and writes; gives the outcome. */
const load = (options = {}) =>
  page.evaluate(async (given) => {
    const { createWriter, hasModel } = await import("/writer/index.js");
    const sources = new Set();
    try {
      const onProgress = ({ isCached }) => sources.add(isCached ? "cache" : "network");
      const writer = await createWriter({ modelUrl: "/model.gguf", onProgress, ...given });
      let text = "";
      await writer.write([{ role: "user", content: "Hi" }], { onText: (piece) => (text += piece) });
      for (let tries = 0; tries < 100 && !(await hasModel("/model.gguf")); tries++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await writer.dispose();
      return { text, sources: [...sources], isStored: await hasModel("/model.gguf") };
    } catch (error) {
      const { code, message } = /** @type {import("../src/index.ts").WriterError} */ (error);
      return { code, message, isStored: await hasModel("/model.gguf") };
    }
  }, options);

const model = { byteLength: MODEL.length, sha256: sha256(MODEL) };

describe("a model file", () => {
  test("runs in a worker under the Content-Security-Policy of the README, and is stored", async () => {
    assert.deepEqual(await load({ model }), { text: "Hello.", sources: ["network"], isStored: true });
    assert.deepEqual(page.errors, []);
  });

  test("comes from the cache the next time, with its hash checked", async () => {
    await load({ model });
    assert.deepEqual(await load({ model }), { text: "Hello.", sources: ["cache"], isStored: true });
    assert.deepEqual(await load(), { text: "Hello.", sources: ["cache"], isStored: true });
    assert.deepEqual(site.requests, ["GET"]);
  });

  test("is downloaded again if the stored one is damaged or of another size", async () => {
    for (const stored of [Buffer.concat([MODEL.subarray(0, -1), Buffer.from("!")]), MODEL.subarray(0, 1000)]) {
      await page.evaluate(
        async ([base64]) => {
          const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
          const response = new Response(bytes, { headers: { "content-length": String(bytes.length) } });
          await (await caches.open("evidence-chat-writer")).put("/model.gguf", response);
        },
        [stored.toString("base64")],
      );
      site.requests.length = 0;
      const outcome = await load({ model });
      assert.deepEqual([outcome.text, site.requests], ["Hello.", ["GET"]]);
    }
  });

  test("that is not the expected one is not stored", async () => {
    site.model = Buffer.concat([MODEL.subarray(0, -1), Buffer.from("!")]);
    const { code, isStored } = await load({ model });
    assert.deepEqual([code, isStored], ["integrity", false]);
  });

  test("whose download is aborted is not stored", async () => {
    const outcome = await page.evaluate(async () => {
      const { createWriter, hasModel } = await import("/writer/index.js");
      const aborting = new AbortController();
      const loading = createWriter({
        modelUrl: "/model.gguf",
        signal: aborting.signal,
        onProgress: () => aborting.abort(),
      });
      const code = await loading.then(
        () => "loaded",
        (error) => error.code,
      );
      return [code, await hasModel("/model.gguf")];
    });
    assert.deepEqual(outcome, ["aborted", false]);
  });

  test("can be deleted from the cache", async () => {
    await load({ model });
    const deleted = await page.evaluate(async () => {
      const { deleteModel, hasModel } = await import("/writer/index.js");
      return [await deleteModel("/model.gguf"), await deleteModel("/model.gguf"), await hasModel("/model.gguf")];
    });
    assert.deepEqual(deleted, [true, false, false]);
  });

  test("works if nothing can be stored", async () => {
    const session = await page.context().newCDPSession(page);
    await session.send("Storage.overrideQuotaForOrigin", { origin: site.origin, quotaSize: 1000 });
    const outcome = await load({ model });
    await session.send("Storage.overrideQuotaForOrigin", { origin: site.origin });
    assert.deepEqual([outcome.text, outcome.isStored], ["Hello.", false]);
    assert.equal((await load({ model, cache: false })).isStored, false);
  });

  test("is blocked by a policy without WebAssembly or without the Trusted Types policy, which the error names", async () => {
    for (const forbidden of ["'wasm-unsafe-eval'", "evidence-chat-writer"]) {
      site.headers = { "content-security-policy": POLICY.replace(` ${forbidden}`, "") };
      await page.goto(site.origin);
      const { code, message } = await load({ model });
      assert.equal(code, "blocked");
      assert.match(message, new RegExp(forbidden));
      assert.deepEqual(site.requests, []);
    }
  });

  test("a writer that is disposed ends its worker, also while it writes", async () => {
    const [code, workers] = await page.evaluate(async () => {
      const { createWriter } = await import("/writer/index.js");
      const writer = await createWriter({ modelUrl: "/model.gguf" });
      const content = JSON.stringify({ parts: 1e9 });
      const writing = writer.write([{ role: "user", content }]).catch((error) => error.code);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await writer.dispose();
      return [await writing, performance.getEntriesByType("resource").length];
    });
    assert.equal(code, "aborted");
    assert.ok(workers > 0);
    await page.waitForFunction(() => true);
    assert.deepEqual(page.workers(), []);
  });
});

describe("the browser's own model", () => {
  /** Installs a scripted Prompt API, runs a program with the package, and gives its result. */
  const withBuiltIn = (script, run) =>
    page.evaluate(
      `(async () => {
        globalThis.calls = [];
        globalThis.LanguageModel = (${script})(globalThis.calls);
        const module = await import("/writer/index.js");
        const result = await (${run})(module);
        delete globalThis.LanguageModel;
        return { result, calls: globalThis.calls };
      })()`,
    );

  /** Answers every prompt with two pieces. */
  const SCRIPTED = `(calls) => ({
    availability: async (options) => (calls.push(["availability", options.expectedOutputs[0].languages]), "available"),
    create: async ({ initialPrompts, monitor }) => {
      calls.push(["create", initialPrompts?.length ?? 0]);
      const target = new EventTarget();
      monitor?.(target);
      target.dispatchEvent(Object.assign(new Event("downloadprogress"), { loaded: 0.5 }));
      return {
        promptStreaming: (input) => (calls.push(["prompt", input]), new ReadableStream({
          start(stream) {
            for (const piece of ["Refunds ", "take 5 days."]) stream.enqueue(piece);
            stream.close();
          },
        })),
        destroy: () => calls.push(["destroy"]),
      };
    },
  })`;
  const STREAM = /new ReadableStream\(\{.*?\n {8}\}\)/s;
  const MESSAGES = '[{ role: "system", content: "Be short." }, { role: "user", content: "How long?" }]';

  test("is unavailable without the Prompt API", async () => {
    const outcome = await page.evaluate(async () => {
      // Some builds of Chromium have it.
      Reflect.deleteProperty(globalThis, "LanguageModel");
      const { builtInStatus, builtInWriter } = await import("/writer/index.js");
      return [await builtInStatus(), (await builtInWriter()) === undefined];
    });
    assert.deepEqual(outcome, ["unavailable", true]);
  });

  test("writes in a session of its own, which is destroyed", async () => {
    const { result, calls } = await withBuiltIn(
      SCRIPTED,
      `async ({ builtInWriter }) => {
        const reports = [];
        const writer = await builtInWriter({ languages: ["en", "de"], onProgress: (report) => reports.push(report) });
        let text = "";
        const { ending } = await writer.write(${MESSAGES}, { onText: (piece) => (text += piece) });
        await writer.dispose();
        return { text, ending, reports, name: writer.name };
      }`,
    );
    const half = { loadedBytes: 0.5, totalBytes: 1, isCached: false };
    assert.deepEqual(result, { text: "Refunds take 5 days.", ending: "stop", reports: [half], name: "built-in" });
    assert.deepEqual(calls, [
      ["availability", ["en", "de"]],
      ["create", 0],
      ["create", 1],
      ["prompt", "How long?"],
      ["destroy"],
      ["destroy"],
    ]);
  });

  test("stops at a length, since the API has no limit of tokens", async () => {
    const { result } = await withBuiltIn(
      SCRIPTED,
      `async ({ builtInWriter }) => {
        const writer = await builtInWriter();
        let text = "";
        const { ending } = await writer.write(${MESSAGES}, { maxTokens: 1, onText: (piece) => (text += piece) });
        return { text, ending };
      }`,
    );
    assert.deepEqual(result, { text: "Refunds ", ending: "length" });
  });

  /** @type {[string, string, string][]} */
  const faults = [
    [
      "a prompt that is too long",
      '(() => { throw new DOMException("too long", "QuotaExceededError"); })()',
      "context_too_long",
    ],
    ["a failure", '(() => { throw new DOMException("gone", "UnknownError"); })()', "crashed"],
  ];
  for (const [name, fault, code] of faults) {
    test(`rejects ${name} with ${code}`, async () => {
      const { result } = await withBuiltIn(
        SCRIPTED.replace(STREAM, fault),
        `async ({ builtInWriter }) => (await builtInWriter()).write(${MESSAGES}).catch(({ code }) => code)`,
      );
      assert.equal(result, code);
    });
  }

  test("can be aborted while it writes", async () => {
    const { result } = await withBuiltIn(
      SCRIPTED.replace(STREAM, "new ReadableStream()").replace(
        "promptStreaming: (input)",
        "promptStreaming: (input, { signal })",
      ),
      `async ({ builtInWriter }) => {
        const writer = await builtInWriter();
        return Promise.race([
          writer.write(${MESSAGES}, { signal: AbortSignal.timeout(50) }).catch(({ code }) => code),
          new Promise((resolve) => setTimeout(() => resolve("still writing"), 2000)),
        ]);
      }`,
    );
    assert.equal(result, "aborted");
  });

  test("that cannot be loaded rejects with download_failed", async () => {
    const { result } = await withBuiltIn(
      '() => ({ availability: async () => "downloadable", create: async () => { throw new Error("no space"); } })',
      `async ({ builtInStatus, builtInWriter }) => [
        await builtInStatus(),
        await builtInWriter().catch(({ code, message }) => [code, message]),
      ]`,
    );
    assert.equal(result[0], "downloadable");
    assert.equal(result[1][0], "download_failed");
    assert.match(result[1][1], /no space/);
  });
});

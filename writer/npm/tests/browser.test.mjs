// Worker, Cache API and Content-Security-Policy in Chromium, with a fake wllama and a small model; the real ones run in
// tests/generation/ and tests/package/. The browser's own model, which a headless Chromium lacks, is scripted.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { beforeEach, describe, test } from "node:test";
import { listen } from "../../../tests/lib/listen.mjs";
import { startSuite } from "../../../tests/lib/suite.mjs";
import { buildFakePackage } from "./fake/package.mjs";

/** The policy of the README. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self'; " +
  "require-trusted-types-for 'script'; trusted-types evidence-chat-writer";
const TYPES = { js: "text/javascript", wasm: "application/wasm" };
/** Large enough to arrive in many chunks. */
const MODEL = Buffer.concat([Buffer.from("GGUF"), Buffer.alloc(2_500_000, "weights ")]);
const OTHER = Buffer.concat([MODEL.subarray(0, -1), Buffer.from("!")]);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

const files = await buildFakePackage();

/** Serves the package, a page and the model; `site.requests` are those of the model and of wllama. */
async function startSite() {
  const requests = [];
  const whole = (request, response) => {
    response.writeHead(200, { "content-length": site.model.length });
    response.end(request.method === "HEAD" ? undefined : site.model);
  };
  const site = {
    requests,
    policy: POLICY,
    model: /** @type {Buffer<ArrayBufferLike>} */ (MODEL),
    whole,
    respond: whole,
  };
  const server = await listen((request, response) => {
    const name = request.url.slice(1);
    response.setHeader("content-security-policy", site.policy);
    if (name === "") return response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html>");
    if (/model\.gguf$|^writer\/wllama/.test(name)) requests.push(`${request.method} ${name}`);
    if (name.endsWith(".gguf")) return site.respond(request, response);
    const file = files.get(name.replace(/^writer\//, ""));
    if (!file) return response.writeHead(404).end();
    return response.writeHead(200, { "content-type": TYPES[name.split(".").pop()] }).end(file);
  });
  return Object.assign(site, server);
}

const { site, page } = await startSuite(startSite);

beforeEach(async () => {
  Object.assign(site, { policy: POLICY, model: MODEL, respond: site.whole });
  await page.goto(site.origin);
  await page.evaluate(() => globalThis.caches?.delete("evidence-chat-writer"));
  site.requests.length = 0;
  page.errors.length = 0;
});

/** Loads the model in the page and writes; gives the outcome. */
const load = (options = {}) =>
  page.evaluate(async (given) => {
    const { createWriter, hasModel } = await import("/writer/index.js");
    const reports = [];
    try {
      const onProgress = (report) => reports.push(report);
      const writer = await createWriter({ modelUrl: "/a-model.gguf", onProgress, ...given });
      let text = "";
      await writer.write([{ role: "user", content: "Hi" }], { onText: (piece) => (text += piece) });
      await writer.dispose();
      for (let tries = 0; tries < 50 && !(await hasModel("/a-model.gguf")); tries++) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const isCached = reports.at(-1)?.isCached;
      return { name: writer.name, text, reports, isCached, isStored: await hasModel("/a-model.gguf") };
    } catch (error) {
      const { code, message } = /** @type {import("../src/index.ts").WriterError} */ (error);
      return { code, message, isStored: await hasModel("/a-model.gguf") };
    }
  }, options);

const model = { byteLength: MODEL.length, sha256: sha256(MODEL).toUpperCase() };
const GET = "GET a-model.gguf";
const ENGINE = ["GET writer/wllama.js", "HEAD writer/wllama.wasm"];

describe("before the visitor's consent", () => {
  test("neither the model nor wllama is loaded to tell the size and what is in the cache", async () => {
    const asked = await page.evaluate(async () => {
      const { hasModel, modelSize } = await import("/writer/index.js");
      return [await hasModel("/a-model.gguf"), await modelSize("/a-model.gguf")];
    });
    assert.deepEqual(asked, [false, MODEL.length]);
    assert.deepEqual(site.requests, ["HEAD a-model.gguf"]);
  });

  test("a size that the server does not tell has to be set", async () => {
    site.respond = (_request, response) => response.writeHead(200, { "transfer-encoding": "chunked" }).end();
    const message = await page.evaluate(async () => {
      const { modelSize } = await import("/writer/index.js");
      return modelSize("/a-model.gguf").catch((error) => `${error.code}: ${error.message}`);
    });
    assert.match(String(message), /^download_failed: .*model\.byteLength/);
  });
});

describe("a model file", () => {
  test("runs in a worker under the Content-Security-Policy of the README, and is stored", async () => {
    const { name, text, reports, isStored } = await load({ model });
    assert.deepEqual([name, text, isStored], ["a-model", "Hello.", true]);
    const { length } = MODEL;
    assert.deepEqual(reports.at(-1), { loadedBytes: length, totalBytes: length, isCached: false });
    assert.ok(reports.every(({ loadedBytes }, at) => loadedBytes >= (reports[at - 1]?.loadedBytes ?? 0)));
    assert.deepEqual(site.requests, [...ENGINE, GET]);
    assert.deepEqual(page.errors, []);
    assert.deepEqual(page.workers(), []);
  });

  test("comes from the cache the next time, with its hash checked", async () => {
    await load({ model });
    site.requests.length = 0;
    for (const options of [{ model }, {}]) {
      const { text, isCached, isStored } = await load(options);
      assert.deepEqual([text, isCached, isStored], ["Hello.", true, true]);
    }
    assert.ok(!site.requests.includes(GET));
  });

  test("is downloaded again if the stored one is damaged or of another size", async () => {
    for (const stored of [OTHER, MODEL.subarray(0, 1000)]) {
      await page.evaluate(
        async ([base64]) => {
          const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
          const response = new Response(bytes, { headers: { "content-length": String(bytes.length) } });
          await (await caches.open("evidence-chat-writer")).put("/a-model.gguf", response);
        },
        [stored.toString("base64")],
      );
      const { text, isCached } = await load({ model });
      assert.deepEqual([text, isCached], ["Hello.", false]);
    }
  });

  test("in the cache counts only with the expected size", async () => {
    await load();
    const known = await page.evaluate(
      async ([length]) => {
        const { hasModel } = await import("/writer/index.js");
        return [await hasModel("/a-model.gguf", length), await hasModel("/a-model.gguf", length + 1)];
      },
      [MODEL.length],
    );
    assert.deepEqual(known, [true, false]);
  });

  test("works if nothing can be stored", async () => {
    const session = await page.context().newCDPSession(page);
    await session.send("Storage.overrideQuotaForOrigin", { origin: site.origin, quotaSize: 1000 });
    const outcome = await load({ model });
    await session.send("Storage.overrideQuotaForOrigin", { origin: site.origin });
    assert.deepEqual([outcome.text, outcome.isStored], ["Hello.", false]);
  });

  /** @type {[string, object, ((request, response) => unknown) | undefined, Buffer<ArrayBufferLike>, string, RegExp][]} */
  const faults = [
    ["is not there", {}, (_r, response) => response.writeHead(404).end(), MODEL, "download_failed", /status 404/],
    [
      "is a web page",
      {},
      (_r, response) => response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
      MODEL,
      "download_failed",
      /web page/,
    ],
    [
      "breaks off",
      {},
      (_r, response) => {
        response.writeHead(200, { "content-length": MODEL.length });
        response.write(MODEL.subarray(0, 1000), () => setTimeout(() => response.destroy(), 50));
      },
      MODEL,
      "download_failed",
      /broke off/,
    ],
    ["is another one", { sha256: model.sha256 }, undefined, OTHER, "integrity", /its SHA-256 is .* instead of/],
    ["has another size", { byteLength: 10 }, undefined, MODEL, "integrity", /bytes instead of 10/],
    [
      "is no GGUF file",
      {},
      undefined,
      Buffer.from("text"),
      "invalid_model",
      /llama\.cpp reads \(error .*: invalid magic/,
    ],
    ["does not fit into memory", {}, undefined, Buffer.from("OOM…"), "out_of_memory", /could not allocate/],
  ];
  for (const [name, expected, respond, content, code, message] of faults) {
    test(`that ${name} rejects with ${code}, and is not stored`, async () => {
      site.model = content;
      if (respond) site.respond = respond;
      const outcome = await load({ model: expected });
      assert.equal(outcome.code, code, outcome.message);
      assert.match(outcome.message, message);
      assert.equal(outcome.isStored, false);
      await page.waitForFunction(() => true);
      assert.deepEqual(page.workers(), []);
    });
  }

  test("whose download is aborted is not stored", async () => {
    const outcome = await page.evaluate(async () => {
      const { createWriter, hasModel } = await import("/writer/index.js");
      const aborting = new AbortController();
      const onProgress = () => aborting.abort();
      const loading = createWriter({ modelUrl: "/a-model.gguf", signal: aborting.signal, onProgress });
      const early = createWriter({ modelUrl: "/a-model.gguf", signal: AbortSignal.abort() });
      const codes = await Promise.all([loading, early].map((each) => each.catch((error) => error.code)));
      return [...codes, await hasModel("/a-model.gguf")];
    });
    assert.deepEqual(outcome, ["aborted", "aborted", false]);
  });
});

describe("a page that does not allow it", () => {
  /** @type {[string, string[]][]} */
  const policies = [
    ["'wasm-unsafe-eval'", []],
    ["evidence-chat-writer", ENGINE.slice(0, 1)],
    ["blob:", [...ENGINE, GET]],
  ];
  for (const [forbidden, requests] of policies) {
    test(`gets the error blocked, which names what is missing: ${forbidden}`, async () => {
      site.policy = POLICY.replace(` ${forbidden}`, "");
      await page.goto(site.origin);
      const { code, message } = await load({ model });
      assert.equal(code, "blocked", message);
      assert.match(message, new RegExp(forbidden));
      assert.deepEqual(site.requests, requests);
    });
  }

  test("or lacks wllama.wasm downloads no model", async () => {
    const wasm = files.get("wllama.wasm");
    files.delete("wllama.wasm");
    const { code, message } = await load({ model });
    files.set("wllama.wasm", wasm);
    assert.equal(code, "download_failed");
    assert.match(message, /wllama\.wasm answered with status 404/);
    assert.deepEqual(site.requests, ENGINE);
  });

  test("or a browser without 64-bit WebAssembly downloads nothing", async () => {
    await page.evaluate(() => {
      Object.defineProperty(WebAssembly, "Memory", { value: undefined });
    });
    const { code, message } = await load({ model });
    assert.equal(code, "unsupported");
    assert.match(message, /Use Chrome/);
    assert.deepEqual(site.requests, []);
  });
});

describe("writing", () => {
  /** Runs a program with a writer of the model in the page; `message` makes a scripted one. */
  const withWriter = (program) =>
    page.evaluate(`(async () => {
      const { createWriter } = await import("/writer/index.js");
      const message = (script) => [{ role: "user", content: JSON.stringify(script) }];
      const long = { tokens: 5, pieces: Array(1000).fill("a ") };
      const codeOf = (promise) => promise.then(() => "ok", ({ code, message }) => code + ": " + message);
      const writer = await createWriter({ modelUrl: "/a-model.gguf" });
      return (${program})({ writer, message, long, codeOf });
    })()`);

  test("a text arrives in pieces, with its usage and its ending", async () => {
    const outcome = await withWriter(`async ({ writer, message, long }) => {
      const pieces = [];
      const whole = await writer.write(message({ pieces: ["Refunds", " take"], tokens: 42 }), { onText: (piece) => pieces.push(piece) });
      const cut = await writer.write(message(long), { maxTokens: 7 });
      const byDefault = await writer.write(message(long));
      return { pieces, whole, endings: [cut.ending, cut.completionTokens, byDefault.completionTokens] };
    }`);
    const whole = { promptTokens: 42, completionTokens: 2, ending: "stop" };
    assert.deepEqual(outcome, { pieces: ["Refunds", " take"], whole, endings: ["length", 7, 200] });
  });

  test("overlapping calls run one after the other, each with its own text", async () => {
    const outcome = await withWriter(`async ({ writer, message }) => {
      const text = async (letter) => {
        let text = "";
        await writer.write(message({ pieces: [letter, letter] }), { onText: (piece) => (text += piece) });
        return text;
      };
      return [await Promise.all([text("a"), text("b")]), globalThis.overlapped];
    }`);
    assert.deepEqual(outcome, [["aa", "bb"], false]);
  });

  test("messages that are too long reject with context_too_long, and the writer still works", async () => {
    const outcome = await withWriter(`async ({ writer, message, codeOf }) =>
      [await codeOf(writer.write(message({ tokens: 1001 }))), await codeOf(writer.write(message({})))]`);
    assert.match(outcome[0], /^context_too_long: .*1001 tokens/);
    assert.equal(outcome[1], "ok");
  });

  test("a text and a waiting one can be aborted, and nothing is told afterwards", async () => {
    const outcome = await withWriter(`async ({ writer, message, long, codeOf }) => {
      const [first, second] = [new AbortController(), new AbortController()];
      let told = 0;
      const onText = () => ++told === 3 && first.abort();
      const writing = codeOf(writer.write(message(long), { maxTokens: 1000, signal: first.signal, onText }));
      const waiting = codeOf(writer.write(message({}), { signal: second.signal }));
      second.abort();
      const codes = [await waiting, await writing, await codeOf(writer.write(message({})))];
      return [...codes.map((code) => code.split(":")[0]), told];
    }`);
    assert.deepEqual(outcome, ["aborted", "aborted", "ok", 3]);
  });

  test("a failure of the model rejects with crashed and says what to do", async () => {
    const outcome = await withWriter(`({ writer, message, codeOf }) => codeOf(writer.write(message({ crash: true })))`);
    assert.match(outcome, /^crashed: .*Create a new writer \(unreachable\)/);
  });

  test("dispose ends the worker and rejects pending and later calls", async () => {
    const outcome = await withWriter(`async ({ writer, message, long, codeOf }) => {
      const pending = codeOf(writer.write(message(long)));
      await writer.dispose();
      return [await pending, await codeOf(writer.write(message({})))];
    }`);
    assert.deepEqual(outcome, ["aborted: The call was aborted.", "aborted: The call was aborted."]);
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

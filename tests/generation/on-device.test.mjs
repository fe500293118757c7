// Answers that are written in Chromium: the built widget, the real writer and verifier as WebAssembly, and the real model. Only
// properties are asserted: the text of a model differs from one processor to another.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { beforeEach, describe, test } from "node:test";
import { strictPolicy } from "../../web/tests/browser/pages/widget/page.mjs";
import { QUESTION, startWidgetSuite } from "../../web/tests/browser/pages/widget/suite.mjs";
import { citation } from "../../web/tests/browser/support/answers.mjs";
import { required } from "./support/model-server.mjs";

/** A prompt takes seconds, and minutes on a busy machine. */
const LIMIT = { timeout: 480_000 };
const LIMIT_MS = 240_000;

const path = required("MODEL_SERVER_MODEL");
const { size } = await stat(path);
const sha256 = createHash("sha256")
  .update(await readFile(path))
  .digest("hex");

const { site, open } = await startWidgetSuite();

const MODEL = "/models/model.gguf";
/** Requests of the model's file. */
let downloads = [];
/** A module that replaces the writer's, if set. */
let module;

beforeEach(() => {
  downloads = [];
  module = undefined;
  site.api.config = { ...site.api.config, answer_mode: "on_device" };
  site.interfere = async (url, response) => {
    if (url === "/writer.js" && module !== undefined) {
      response.writeHead(200, { "content-type": "text/javascript" }).end(module);
      return true;
    }
    if (url !== MODEL) return false;
    downloads.push(url);
    response.writeHead(200, { "content-length": size });
    createReadStream(path).pipe(response);
    return true;
  };
});

async function openWriting(t, attributes = {}) {
  const widget = await open(t, {
    attributes: {
      "writer-url": "/widget/writer/index.js",
      "writer-model-url": MODEL,
      "writer-model-size": String(size),
      "writer-model-sha256": sha256,
      ...attributes,
    },
    csp: `${strictPolicy(site.api, { "worker-src": ["blob:"] })} evidence-chat-writer`,
  });
  widget.page.setDefaultTimeout(LIMIT_MS);
  return widget;
}

const box = (widget, ...states) =>
  widget.element.locator(states.map((state) => `[data-role=on-device][data-state=${state}]`).join(", ")).last();

describe("the widget with the real model", () => {
  test("writes after consent, keeps the quotes, and sends nothing while it writes", LIMIT, async (t) => {
    const widget = await openWriting(t);
    const reply = await widget.ask(QUESTION);
    await widget.role("write").click();
    assert.equal(downloads.length, 0);
    assert.equal(await widget.role("write-yes").innerText(), `Download ${Math.round(size / 1e6)} MB`);
    await widget.role("write-yes").click();
    await box(widget, "writing").waitFor();
    assert.equal(downloads.length, 1);
    const before = widget.urls.length;
    await box(widget, "written", "nothing").waitFor();
    // The check of the sentences is loaded with the first one; nothing leaves the page's own server.
    const later = widget.urls.slice(before).map((url) => new URL(url));
    assert.deepEqual(later.filter(({ origin, search }) => origin !== site.origin || search !== "").map(String), []);
    assert.match(await reply.innerText(), /Refunds are paid within 5 days\./);
    const markers = await box(widget, "written", "nothing").locator("[data-role=marker]").allInnerTexts();
    assert.deepEqual(
      markers.filter((marker) => marker !== "1"),
      [],
    );
    assert.equal(widget.page.workers().length, 2, "one for the embedder, one for the writer");

    // The next answer is written by itself, without another download.
    await widget.ask("How can I reach you before a refund?");
    await box(widget, "writing", "written", "nothing").waitFor();
    await box(widget, "written", "nothing").waitFor();
    assert.equal(downloads.length, 1);

    await widget.element.evaluate((element) => element.remove());
    await widget.until(() => widget.page.workers().length === 0, "the memory to be freed");
  });

  test("takes the model from the cache on the next visit, and can be stopped while it writes", LIMIT, async (t) => {
    const widget = await openWriting(t);
    await widget.ask(QUESTION);
    await widget.role("write").click();
    await box(widget, "writing").waitFor();
    assert.deepEqual(downloads, []);
    const clicked = Date.now();
    await widget.role("write-cancel").click();
    await box(widget, "offer").waitFor();
    assert.ok(Date.now() - clicked < 3000, `stopping took ${Date.now() - clicked} ms`);
    await widget.role("write").click();
    await box(widget, "written", "nothing").waitFor();
  });

  test("rejects another file than the expected one", LIMIT, async (t) => {
    const widget = await openWriting(t, {
      "writer-model-sha256": "0".repeat(64),
      "writer-model-url": `${MODEL}?other`,
    });
    await widget.ask(QUESTION);
    await widget.role("write").click();
    await widget.role("write-yes").click();
    await box(widget, "failed").waitFor();
    assert.equal((await widget.events("error")).at(-1).detail.code, "writer_integrity");
  });
});

describe("the writer with the real model", () => {
  test("gives sentences whose sources the citations contain, and counts what it read", LIMIT, async (t) => {
    const widget = await openWriting(t);
    const outcome = await widget.page.evaluate(
      async ([modelUrl, question, given]) => {
        const url = "/widget/writer/index.js";
        /** @type {import("../../writer/npm/src/index.ts")} */
        const { createWriter, writeAnswer } = await import(url);
        const writer = await createWriter({ modelUrl });
        const pieces = [];
        /** @type {import("../../writer/npm/src/index.ts").ChatMessage[]} */
        const messages = [{ role: "user", content: "What is the capital of France?" }];
        const usage = await writer.write(messages, { maxTokens: 12, onText: (piece) => void pieces.push(piece) });
        const written = await writeAnswer(writer, { question, citations: [given], hedged: false });
        const tooLong = await writer
          .write([{ role: "user", content: "word ".repeat(20_000) }])
          .catch(({ code, message }) => ({ code, message }));
        await writer.dispose();
        return { usage, pieces, written, tooLong };
      },
      [MODEL, QUESTION, citation({ quotes: [] })],
    );
    const { usage, pieces, written, tooLong } = outcome;
    assert.ok(usage.promptTokens > 5, JSON.stringify(usage));
    assert.ok(usage.completionTokens > 0 && usage.completionTokens <= 12, JSON.stringify(usage));
    assert.match(pieces.join(""), /\p{L}/u);
    assert.equal(tooLong.code, "context_too_long", tooLong.message);
    const { answer, generation, error } = written;
    assert.equal(error, undefined);
    // Unknown if the text was stopped because it was long enough.
    const { prompt_tokens: tokens = 100 } = generation;
    assert.ok(tokens > 50, JSON.stringify(generation));
    assert.equal(generation.sentences, answer?.deltas.length ?? 0);
    assert.equal(generation.fallback === undefined, answer !== undefined);
    for (const delta of answer?.deltas ?? []) assert.match(delta, / \[1\]$/);
    for (const { excerpt, supports, quotes } of /** @type {any[]} */ (answer?.citations ?? [])) {
      assert.deepEqual(quotes, []);
      for (const { start, end, text } of supports) assert.equal(excerpt.slice(start, end), text);
    }
  });
});

test("a written sentence with a changed number is not shown, although the model wrote it", LIMIT, async (t) => {
  module = `
    export * from "/widget/writer/index.js";
    export const hasModel = async () => true;
    export const createWriter = async () => ({
      name: "scripted",
      async write(messages, { onText }) {
        onText("Refunds are paid within 5 days [1]. Refunds are paid within 9 days [1].");
        return { ending: "stop" };
      },
      async dispose() {},
    });`;
  const widget = await openWriting(t, { "writer-url": "/writer.js" });
  await widget.ask(QUESTION);
  await widget.role("write").click();
  await box(widget, "written").waitFor();
  const text = await box(widget, "written").innerText();
  assert.match(text, /^Refunds are paid within 5 days/);
  assert.doesNotMatch(text, /9 days/);
  assert.match(text, /1 sentence was left out/);
});

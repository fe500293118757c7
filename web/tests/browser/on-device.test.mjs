// Answers that are written on the visitor's device. Real Chromium and embedder; API and writer are scripted.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { beforeEach, describe, test } from "node:test";
import { answer, citation, generated, refusal, report, support, supporting, whole } from "./support/answers.mjs";
import { ANSWER, openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, withConversation } = await startWidgetSuite();

const MODEL = "/models/small.gguf";
const ATTRIBUTES = { "writer-url": "/writer.js", "writer-model-url": MODEL };
const OFFER = "Write it in a sentence or two (on this device)";
const NOTE = "Written on this device by a language model from the documents of this site.";
const FIRST = "You get your money back within 5 days. [1]";
const SECOND = " Contact us before that. [1]";

const module = await readFile(new URL("support/scripted-writer.mjs", import.meta.url));

/** What the writer gives by default. */
const written = (fields = {}) => ({
  answer: { deltas: [FIRST, SECOND], citations: [supporting()], referenced_indices: [1] },
  generation: report({ model: "scripted" }),
  ...fields,
});

beforeEach(() => {
  site.api.config = { ...site.api.config, answer_mode: "on_device" };
  site.interfere = async (path, response) => {
    if (path !== "/writer.js") return false;
    response.writeHead(200, { "content-type": "text/javascript" }).end(module);
    return true;
  };
});

/**
 * Opens the widget with a scripted writer.
 * @param {object} t
 * @param {object} [script]
 * @param {{ attributes?: object, init?: Function }} [options]
 */
async function openScripted(t, script = {}, { attributes = {}, ...options } = {}) {
  return open(t, {
    attributes: { ...ATTRIBUTES, ...attributes },
    setUp: (page) =>
      page.addInitScript((given) => (globalThis.script = given), { isCached: true, written: written(), ...script }),
    ...options,
  });
}

const box = (widget, state) =>
  widget.element.locator(`[data-role=on-device]${state === undefined ? "" : `[data-state=${state}]`}`).last();
const reach = (widget, state) => box(widget, state).waitFor();
const calls = (widget) => widget.page.evaluate(() => globalThis.script.calls.map(([name]) => name));
const release = (widget, stage) => widget.page.evaluate((name) => globalThis.script.release(name), stage);
/** Asks and lets the answer be written. */
async function askAndWrite(widget) {
  const reply = await widget.ask(QUESTION);
  await widget.role("write").click();
  await reach(widget, "written");
  return reply;
}
const focused = (widget) => widget.element.evaluate(({ shadowRoot }) => shadowRoot.activeElement?.dataset.role);

describe("the offer", () => {
  test("is above the quotes, and nothing is loaded before it is accepted", async (t) => {
    const widget = await openScripted(t);
    const reply = await widget.ask(QUESTION);
    assert.equal(await widget.role("write").innerText(), OFFER);
    assert.match(await reply.innerText(), new RegExp(`^${OFFER.replace(/[()]/g, "\\$&")}[^]*${ANSWER.source}`));
    assert.ok(!site.requests.includes("/writer.js"));
  });

  /** @type {[string, () => void, object, string?][]} */
  const without = [
    ["the site's mode is extractive", () => (site.api.config.answer_mode = "extractive"), {}],
    ["the page asks for quotes", () => undefined, { "answer-mode": "extractive" }],
    ["neither page nor browser has a model", () => undefined, { "writer-model-url": null }],
    ["the question is refused", () => site.api.respondWith(whole(refusal())), {}, "refused"],
    ["the server has written the answer", () => site.api.respondWith(whole(generated())), {}],
    ["the answer has no sources", () => site.api.respondWith(whole(answer({ citations: [] }))), {}],
  ];
  for (const [name, change, attributes, state] of without) {
    test(`is not made if ${name}`, async (t) => {
      change();
      const widget = await openScripted(t, {}, { attributes });
      await widget.ask(QUESTION, state);
      await widget.page.waitForTimeout(200);
      assert.equal(await box(widget).count(), 0);
    });
  }

  test("is not made for an opened conversation", async (t) => {
    withConversation([
      { role: "user", content: QUESTION },
      { role: "assistant", content: "Refunds are paid within 5 days. [1]", citations: [citation()] },
    ]);
    const widget = await openScripted(t);
    await openConversation(widget);
    await widget.reply("done");
    await widget.page.waitForTimeout(200);
    assert.equal(await box(widget).count(), 0);
  });
});

describe("a written answer", () => {
  test("is above the quotes, which stay, with a note who wrote it", async (t) => {
    const widget = await openScripted(t);
    const reply = await askAndWrite(widget);
    assert.match(
      await reply.innerText(),
      /^You get your money back within 5 days\..*Contact us[^]*Refunds are paid within/,
    );
    assert.equal(await widget.role("generated-note").innerText(), NOTE);
    assert.equal(await widget.all("sources").count(), 1);
    assert.match(await widget.role("announcer").innerText(), /^Written answer: You get your money back/);
    assert.deepEqual(await calls(widget), ["create", "write"]);
    const [[, url, { byteLength, sha256 }], [, question, count, hedged]] = await widget.page.evaluate(
      () => globalThis.script.calls,
    );
    assert.deepEqual([url, byteLength, sha256], [MODEL, undefined, undefined]);
    assert.deepEqual([question, count, hedged], [QUESTION, 1, false]);
    assert.equal(await reply.getAttribute("data-state"), "done");
  });

  test("has badges whose cards show the source sentence, and open the source below", async (t) => {
    const widget = await openScripted(t);
    await askAndWrite(widget);
    const card = await widget.openCard(widget.all("marker").nth(1));
    assert.deepEqual(await card.locator("mark").allInnerTexts(), ["Write to us first."]);
    assert.equal(await card.locator("[data-role=source-sentence]").innerText(), "Source sentence");
    await widget.all("marker").first().click();
    assert.equal(await widget.role("source").getAttribute("open"), "");
    assert.deepEqual(await widget.role("passage").locator("mark").allInnerTexts(), ["Refunds are paid within 5 days."]);
    // The quotes keep their own mark.
    assert.equal(await widget.role("passage").locator("[data-role=verified-quote]").count(), 1);
  });

  test("counts the sentences that were left out, with the reasons on demand", async (t) => {
    const generation = report({ dropped: { number: 1 } });
    const widget = await openScripted(t, { written: written({ generation }) });
    await askAndWrite(widget);
    assert.match(await widget.role("left-out").innerText(), /^1 sentence was left out/);
    await widget.role("left-out").locator("summary").press("Enter");
    assert.equal(await widget.role("left-out").locator("li").innerText(), "Number or date not in the source: 1");
  });

  test("with words that no passage has shows no source sentence", async (t) => {
    const invented = { ...support(0), text: "Refunds are paid within 2 days." };
    const citations = [supporting({ supports: [invented] })];
    const widget = await openScripted(t, { written: written({ answer: { deltas: [FIRST], citations } }) });
    await askAndWrite(widget);
    const card = await widget.openCard(widget.all("marker").first());
    assert.equal(await card.locator("mark, [data-role=source-sentence]").count(), 0);
  });

  test("can be copied with its sources, as the quotes can", async (t) => {
    const widget = await openScripted(t);
    await widget.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
    await askAndWrite(widget);
    const copied = async (place) => {
      const button = widget.all("copy").nth(place);
      await button.click();
      await button.filter({ hasText: "Copied" }).waitFor();
      return widget.page.evaluate(() => navigator.clipboard.readText());
    };
    assert.equal(
      await copied(0),
      "You get your money back within 5 days. [Refunds] Contact us before that. [Refunds]\n\n" +
        "Written by a language model from the cited sources.",
    );
    assert.equal(await copied(1), "Refunds are paid within 5 days. [Refunds]");
  });

  test("is missing if no sentence was verified: the note says so, and the quotes stay", async (t) => {
    const generation = report({ sentences: 0, dropped: { number: 2 }, fallback: "unsupported" });
    const widget = await openScripted(t, { written: { generation } });
    const reply = await widget.ask(QUESTION);
    await widget.role("write").click();
    await reach(widget, "nothing");
    assert.match(await box(widget).innerText(), /^The language model wrote nothing that the sources support/);
    assert.match(await box(widget).innerText(), /2 sentences were left out/);
    assert.match(await reply.innerText(), ANSWER);
  });

  test("keeps the warning of a hedged answer", async (t) => {
    site.api.respondWith(whole(answer({ hedged: true })));
    const widget = await openScripted(t);
    await askAndWrite(widget);
    assert.equal(await box(widget).locator("[data-role=hedge]").count(), 1);
  });

  test("is written by itself for the next question, unless the visitor saves data", async (t) => {
    const widget = await openScripted(t);
    await askAndWrite(widget);
    await widget.ask("Another question?");
    await widget.until(async () => (await calls(widget)).length === 3, "the second text");
    await reach(widget, "written");
    assert.deepEqual(await calls(widget), ["create", "write", "write"]);
    await widget.page.evaluate(() => Object.defineProperty(navigator, "connection", { value: { saveData: true } }));
    await widget.ask("A third question?");
    await reach(widget, "offer");
  });
});

describe("consent", () => {
  const download = { isCached: false };

  test("names the size before the download; without it, nothing is loaded", async (t) => {
    const widget = await openScripted(t, download);
    await widget.ask(QUESTION);
    await widget.role("write").press("Enter");
    await reach(widget, "consent");
    assert.match(await box(widget).innerText(), /^Download a language model\?[^]*one-time download of 98 MB\./);
    assert.match(await widget.role("announcer").innerText(), /98 MB/);
    assert.equal(await widget.role("write-yes").innerText(), "Download 98 MB");
    assert.equal(await focused(widget), "write-yes");
    await widget.role("write-no").press("Enter");
    await reach(widget, "offer");
    assert.equal(await focused(widget), "write");
    assert.deepEqual(await calls(widget), ["size"]);
  });

  test("starts the download, whose progress is shown", async (t) => {
    const widget = await openScripted(t, { ...download, held: ["load"] });
    await widget.ask(QUESTION);
    await widget.role("write").click();
    await widget.role("write-yes").click();
    await widget.role("write-bytes").filter({ hasText: "49.2 of 98.4 MB" }).waitFor();
    assert.equal(
      await box(widget)
        .locator("progress")
        .evaluate((bar) => bar.value),
      0.5,
    );
    assert.equal(await box(widget).getAttribute("aria-busy"), "true");
    await release(widget, "load");
    await reach(widget, "written");
    assert.equal(await box(widget).getAttribute("aria-busy"), "false");
  });

  test("uses the size and the hash that the page gives", async (t) => {
    const attributes = { "writer-model-size": "123000000", "writer-model-sha256": "ab".repeat(32) };
    const widget = await openScripted(t, download, { attributes });
    await widget.ask(QUESTION);
    await widget.role("write").click();
    assert.equal(await widget.role("write-yes").innerText(), "Download 123 MB");
    await widget.role("write-yes").click();
    await reach(widget, "written");
    const [[name, , model]] = await widget.page.evaluate(() => globalThis.script.calls);
    assert.deepEqual([name, model], ["create", { byteLength: 123_000_000, sha256: "ab".repeat(32) }]);
  });

  test("is not needed for a cached model", async (t) => {
    const widget = await openScripted(t);
    await askAndWrite(widget);
    assert.equal((await calls(widget)).includes("size"), false);
  });
});

describe("the browser's own model", () => {
  const attributes = { "writer-model-url": null };
  const init = () => (globalThis.LanguageModel = {});

  test("writes if the page names no model", async (t) => {
    const widget = await openScripted(t, { builtIn: "available" }, { attributes, init });
    await askAndWrite(widget);
    const [[name, languages]] = await widget.page.evaluate(() => globalThis.script.calls);
    assert.deepEqual([name, languages], ["built-in", ["en"]]);
  });

  test("writes nothing for a conversation that was left while its state was asked for", async (t) => {
    const widget = await openScripted(t, { builtIn: "available" }, { attributes, init });
    await askAndWrite(widget);
    await widget.page.evaluate(() => {
      globalThis.script.builtIn = new Promise((resolve) => (globalThis.know = resolve));
    });
    await widget.ask("Another question?");
    await widget.role("new").click();
    await widget.page.evaluate(() => globalThis.know("available"));
    await widget.page.waitForTimeout(200);
    assert.deepEqual(await calls(widget), ["built-in", "write"]);
    assert.equal(await widget.role("announcer").innerText(), "");
  });

  test("is downloaded by the browser only with consent", async (t) => {
    const widget = await openScripted(t, { builtIn: "downloadable" }, { attributes, init });
    await widget.ask(QUESTION);
    await widget.role("write").click();
    await reach(widget, "consent");
    assert.match(await box(widget).innerText(), /a language model of its own[^]*several gigabytes/);
    await widget.role("write-yes").click();
    await reach(widget, "written");
  });

  test("is not offered if it does not support the language", async (t) => {
    const widget = await openScripted(t, { builtIn: "unavailable" }, { attributes, init });
    await widget.ask(QUESTION);
    await widget.page.waitForTimeout(200);
    assert.equal(await box(widget).count(), 0);
  });
});

describe("stopping and faults", () => {
  for (const stage of ["load", "write"]) {
    test(`a visitor can cancel, and the offer is back: ${stage}`, async (t) => {
      const widget = await openScripted(t, { held: [stage] });
      await widget.ask(QUESTION);
      await widget.role("write").click();
      await reach(widget, stage === "load" ? "loading" : "writing");
      await widget.role("write-cancel").press("Enter");
      await reach(widget, "offer");
      assert.equal(await focused(widget), "write");
      await widget.until(async () => (await calls(widget)).includes("aborted"), "the abort");
      await widget.page.evaluate(() => (globalThis.script.held = []));
      await widget.role("write").click();
      await reach(widget, "written");
    });

    test(`a new conversation stops the text: ${stage}`, async (t) => {
      const widget = await openScripted(t, { held: [stage] });
      await widget.ask(QUESTION);
      await widget.role("write").click();
      await reach(widget, stage === "load" ? "loading" : "writing");
      await widget.role("new").click();
      await widget.until(async () => (await calls(widget)).includes("aborted"), "the abort");
      assert.equal(await box(widget).count(), 0);
    });
  }

  test("removing the element from the page frees the model's memory", async (t) => {
    const widget = await openScripted(t);
    await askAndWrite(widget);
    await widget.element.evaluate((element) => element.remove());
    await widget.until(async () => (await calls(widget)).includes("dispose"), "dispose");
  });

  /** @type {[string, object, RegExp, string, boolean][]} */
  const faults = [
    [
      "a download that fails",
      { faults: { load: "download_failed" } },
      /could not be written/,
      "writer_download_failed",
      true,
    ],
    [
      "too little memory",
      { faults: { load: "out_of_memory" } },
      /not have enough memory/,
      "writer_out_of_memory",
      true,
    ],
    ["a browser that cannot run it", { faults: { load: "unsupported" } }, /cannot run/, "writer_unsupported", false],
    [
      "a crash while writing",
      { written: { generation: report({ fallback: "error" }), error: { code: "crashed" } } },
      /could not be written/,
      "writer_crashed",
      true,
    ],
    [
      "a model that is too slow",
      { written: { generation: report({ fallback: "timeout" }) } },
      /could not be written/,
      "writer_failed",
      true,
    ],
  ];
  for (const [name, script, text, code, canRetry] of faults) {
    test(`${name} is explained, and the quotes stay`, async (t) => {
      const widget = await openScripted(t, script);
      const reply = await widget.ask(QUESTION);
      await widget.role("write").click();
      await reach(widget, "failed");
      assert.match(await box(widget).locator("[role=alert]").innerText(), text);
      assert.match(await reply.innerText(), ANSWER);
      assert.equal((await widget.events("error")).at(-1).detail.code, code);
      assert.equal(await widget.all("write-retry").count(), canRetry ? 1 : 0);
      assert.equal(await widget.element.getAttribute("data-state"), "ready");
      if (!canRetry) return;
      await widget.page.evaluate(
        (value) => Object.assign(globalThis.script, { faults: {}, written: value }),
        written(),
      );
      await widget.role("write-retry").click();
      await reach(widget, "written");
    });
  }

  test("a module that is not there is explained", async (t) => {
    const widget = await openScripted(t, {}, { attributes: { "writer-url": "/none.js" } });
    await widget.ask(QUESTION);
    await widget.role("write").click();
    await reach(widget, "failed");
  });

  test("another text stops the running one", async (t) => {
    const widget = await openScripted(t, { held: ["write"] });
    await widget.ask(QUESTION);
    await widget.role("write").click();
    await reach(widget, "writing");
    await widget.ask("Another question?");
    await widget.page.evaluate(() => (globalThis.script.held = []));
    await widget.role("write").click();
    await reach(widget, "written");
    assert.equal(await widget.all("on-device").first().getAttribute("data-state"), "offer");
  });
});

test("a page can load the module itself", async (t) => {
  const widget = await openScripted(t, {}, { attributes: { "writer-url": null } });
  await widget.element.evaluate((chat) => {
    const url = "/writer.js";
    chat.writerLoader = () => import(url);
  });
  await askAndWrite(widget);
});

test("the information says what happens on this device", async (t) => {
  const widget = await openScripted(t);
  await widget.role("input").focus();
  await widget.role("privacy-info").click();
  const text = await widget.element.locator("[data-role=privacy] p").innerText();
  assert.match(
    text,
    /^Answers quote the documents\. If you want, a language model on this device.*Nothing is sent for the writing\.$/,
  );
  assert.equal(await widget.element.locator("#hint").innerText(), "Answers quote their sources word for word.");
});

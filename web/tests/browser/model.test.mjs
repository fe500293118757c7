// Loading of the model, and questions that are too long for it. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { gate } from "./support/answers.mjs";
import { readModel } from "./pages/widget/site.mjs";
import { ANSWER, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, browser, open, openWithClock } = await startWidgetSuite();
const model = await readModel();

test("a failed model load is shown, and the question waits for a successful retry", async (t) => {
  await site.forgetModel(browser);
  let isDown = true;
  site.interfere = (path, response) => {
    if (!isDown || !path.startsWith("/model/")) return false;
    response.writeHead(404).end();
    return true;
  };
  const widget = await open(t);
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.role("model-retry").waitFor();
  await widget.becomes("error");
  assert.equal(await widget.role("status").getAttribute("role"), "alert");
  assert.equal((await widget.events("error"))[0].detail.code, "network");
  isDown = false;
  await widget.role("model-retry").click();
  assert.match(await (await widget.reply("done")).innerText(), ANSWER);
  await widget.becomes("ready");
  assert.equal(await widget.all("status").count(), 0);
});

test("the first load shows percent and megabytes, and times out after 15 s without progress, with a retry", async (t) => {
  await site.forgetModel(browser);
  const { opened, open: release } = gate();
  site.interfere = async (path, response) => {
    if (!path.startsWith("/model/")) return false;
    if (site.modelRequests().length > 1) {
      await opened;
      return false;
    }
    // Sends a third, and then nothing.
    response.writeHead(200, { "content-length": 23_341_453 });
    response.write(model.subarray(0, 7_700_000));
    // The embedder reports progress at most every 200 ms, and may still be reading.
    for (let at = 7_700_000; at < 7_730_000; at += 1000) {
      await sleep(100);
      response.write(model.subarray(at, at + 1000));
    }
    return true;
  };
  const widget = await openWithClock(t);
  await widget.role("input").click();
  await widget.becomes("loading");
  const status = () => widget.role("status").innerText();
  // The first report may be of 7.7 MB decompressed, which is also 33 %.
  await widget.until(async () => /33\s?%[^]*5\.1 of 15\.4 MB/.test(await status()), "a third");
  await widget.page.clock.fastForward(14_000);
  await widget.becomes("loading");
  await widget.page.clock.fastForward(1_500);
  await widget.role("model-retry").waitFor();
  assert.match(await widget.role("status").innerText(), /Connection Timed Out/);
  await widget.becomes("error");
  await widget.role("model-retry").click();
  await widget.becomes("loading");
  release();
  await widget.becomes("ready");
  assert.equal(await widget.all("status").count(), 0);
});

test("an unsupported browser shows a notice before a question is typed, without an exception", async (t) => {
  const widget = await open(t, { init: () => delete globalThis.WebAssembly });
  await widget.role("input").hover();
  await widget.role("status").waitFor();
  assert.match(await widget.role("status").innerText(), /Browser Not Supported[^]*Chrome, Edge, Firefox or Safari/);
  assert.equal(await widget.role("input").isDisabled(), true);
  await widget.becomes("error");
  assert.deepEqual([site.modelRequests(), await widget.all("model-retry").count()], [[], 0]);
  assert.equal((await widget.events("error"))[0].detail.code, "unsupported_browser");
});

test("a question with more tokens than the model reads shows a warning", async (t) => {
  const widget = await open(t);
  const input = widget.role("input");
  await input.click();
  await widget.becomes("ready");
  const words = (count) => Array(count).fill("word").join(" ");
  await input.fill(words(255));
  await widget.role("too-long").waitFor();
  assert.match(await widget.role("too-long").innerText(), /\b(99|100)\s?%/);
  await input.fill(words(254));
  await widget.role("too-long").waitFor({ state: "detached" });
  await input.fill(words(600));
  await widget.role("too-long").waitFor();
  assert.match(await widget.role("too-long").innerText(), /\b42\s?%/);
  await input.fill("short");
  await widget.role("too-long").waitFor({ state: "detached" });
  // 700 characters with few tokens.
  await input.fill("internationalization ".repeat(33));
  await widget.page.waitForTimeout(400);
  assert.equal(await widget.all("too-long").count(), 0);
});

test("a counter with the server's limit appears near the maximum length", async (t) => {
  site.api.config = { ...site.api.config, max_message_chars: 100 };
  const widget = await open(t);
  const input = widget.role("input");
  await input.click();
  await widget.until(async () => (await input.getAttribute("maxlength")) === "100", "the settings have come");
  await input.fill("x".repeat(89));
  assert.equal(await widget.role("count").innerText(), "");
  await input.fill("x".repeat(90));
  assert.match(await widget.role("count").innerText(), /90 \/ 100/);
  await input.press("End");
  await input.pressSequentially("y".repeat(12));
  assert.equal((await input.inputValue()).length, 100);
});

// The reader: when its file is loaded, what is sent with a question, and that its failures are none of the chat's. Real browser, embedder
// and reader, simulated API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answer, bytesUntil, cutAfter, json, whole } from "./support/answers.mjs";
import { QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, browser, open, sent, assertSentTwiceAlike } = await startWidgetSuite();

const PASSAGE = {
  chunk_id: "2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d",
  hash: "0123456789abcdef",
  heading: "Returns › Refunds",
  statements: ["Returns are free within 30 days.", "A refund takes five days."],
};
const READ = "How long until I get my money back?";
const finding = (...passages) => (site.api.findStatements = json(200, { question: READ, passages }));
const readings = () => sent().map((body) => JSON.parse(body).reading);

/** Waits until the page has had time to begin what it does when it is idle. */
const whenIdle = (widget) => widget.page.waitForTimeout(700);

/** Waits until the copy of the reader is stored, which is when it has been loaded. */
async function isLoaded(widget) {
  const isStored = () =>
    widget.page.evaluate(async () => {
      const cache = await caches.open("evidence-chat-embedder");
      const keys = (await cache.keys()).filter(({ url }) => !url.includes("/part"));
      return keys.length === 2;
    });
  await widget.until(isStored, "model and reader are stored");
  await whenIdle(widget);
}

/** A page whose questions wait for their reading as long as it takes: this machine may be busy. */
const PATIENT = {
  init: () => {
    const { setTimeout } = globalThis;
    const patient = (task, milliseconds, ...args) =>
      setTimeout(task, milliseconds === 600 ? 20_000 : milliseconds, ...args);
    Object.assign(globalThis, { setTimeout: patient });
  },
};

/** Opens a page on which one question was answered and the reader is loaded. */
async function openWithReader(t, options) {
  const widget = await open(t, options);
  await widget.ask(QUESTION);
  await isLoaded(widget);
  return widget;
}

test("the reader is loaded after the first answer, and the next question is sent with what it says", async (t) => {
  await site.forgetModel(browser);
  finding(PASSAGE, {
    ...PASSAGE,
    chunk_id: PASSAGE.chunk_id.replace("2c", "3c"),
    statements: ["Parcels leave on the same day."],
  });
  const widget = await open(t, PATIENT);
  await widget.role("input").focus();
  await widget.becomes("ready");
  await whenIdle(widget);
  assert.deepEqual(site.readerRequests(), [], "no answer has been shown");
  await widget.ask(QUESTION);
  await isLoaded(widget);
  assert.equal(site.readerRequests().length, 1);
  assert.match(site.readerRequests()[0], /^\/model\//, "next to the model");
  await widget.ask(QUESTION);
  const [first, second] = readings();
  assert.equal(first, undefined);
  assert.match(second.reader, /^[\da-f]{16}$/);
  const [answering, other] = second.passages;
  assert.deepEqual([answering.chunk_id, answering.hash], [PASSAGE.chunk_id, PASSAGE.hash]);
  const [free, refund] = answering.z;
  assert.ok(refund > free && refund > other.z[0], JSON.stringify(second.passages));
  const [{ body, headers }, ...more] = site.api.statementSearches;
  assert.deepEqual(more, []);
  assert.match(headers.authorization, /^Bearer /);
  const { query, statements, limit, previous } = JSON.parse(body);
  assert.deepEqual([query, statements, limit, previous.message], [QUESTION, true, undefined, QUESTION]);
});

test("on a later visit the reader comes from the browser's cache, and the first question has a reading", async (t) => {
  finding(PASSAGE);
  await openWithReader(t);
  const widget = await open(t, PATIENT);
  await widget.role("input").focus();
  await widget.becomes("ready");
  await widget.page.waitForTimeout(3000);
  await widget.ask(QUESTION);
  assert.deepEqual(site.readerRequests(), []);
  assert.equal(readings().at(-1).passages[0].z.length, 2);
});

const BROKEN = {
  "is missing": (response) => response.writeHead(404).end(),
  "is another file": (response) => response.writeHead(200, { "content-length": 5 }).end("other"),
};

for (const [fault, answerWith] of Object.entries(BROKEN)) {
  test(`where the reader's file ${fault}, questions are answered without it, and it is requested once`, async (t) => {
    await site.forgetModel(browser);
    site.interfere = (path, response) => {
      if (!path.includes("/reader-int8-")) return false;
      answerWith(response);
      return true;
    };
    const widget = await open(t);
    for (let question = 0; question < 3; question++) {
      await widget.ask(QUESTION);
      await whenIdle(widget);
    }
    // A file that is not the reader is requested a second time, past the browser's cache.
    const requests = site.readerRequests().length;
    assert.ok(requests >= 1 && requests <= 2, `${requests} requests`);
    assert.equal(site.api.statementSearches.length, 0);
    assert.deepEqual(await widget.events("error"), []);
  });
}

test("Stop aborts the search, and the question is not sent before a retry", async (t) => {
  const widget = await openWithReader(t);
  site.api.respondWith(whole(answer()));
  site.api.findStatements = () => undefined;
  await widget.role("input").fill(QUESTION);
  await widget.role("input").press("Enter");
  await widget.until(() => site.api.statementSearches.length === 1, "the search");
  await widget.role("stop").click();
  await widget.until(() => site.api.statementSearches[0].isCut, "the search is aborted");
  await sleep(700);
  assert.deepEqual(sent(), [], "the question was not sent");
  finding(PASSAGE);
  await widget.role("retry").click();
  await widget.reply("done");
  assert.equal(sent().length, 1);
});

test("a retry sends the same bytes, with the same reading", async (t) => {
  finding(PASSAGE);
  const widget = await openWithReader(t, PATIENT);
  site.api.respondWith(cutAfter(bytesUntil("answer_delta")), whole(answer()));
  await widget.ask(QUESTION, "failed");
  await widget.role("retry").click();
  await widget.reply("done");
  assertSentTwiceAlike();
  assert.ok(readings()[0]);
});

const SPARING = {
  'reader="off"': { attributes: { reader: "off" } },
  "Save-Data": { init: () => Object.defineProperty(navigator, "connection", { value: { saveData: true } }) },
  "2G": { init: () => Object.defineProperty(navigator, "connection", { value: { effectiveType: "2g" } }) },
  "1 GiB of memory": { init: () => Object.defineProperty(navigator, "deviceMemory", { value: 1 }) },
  "a hidden page": {
    init: () => {
      Object.defineProperty(document, "hidden", { value: true });
    },
  },
};

for (const [name, options] of Object.entries(SPARING)) {
  test(`with ${name}, neither code nor file of the reader is used`, async (t) => {
    // The model is cached, so that nobody is asked for consent.
    await openWithReader(t);
    const widget = await open(t, options);
    site.api.statementSearches.length = 0;
    for (let question = 0; question < 2; question++) {
      await widget.ask(QUESTION);
      await whenIdle(widget);
    }
    assert.deepEqual(
      site.requests.filter((path) => /\/reader-/.test(path)),
      [],
    );
    assert.deepEqual(site.api.statementSearches, []);
  });
}

test("an embedder of the page that cannot read works as without a reader", async (t) => {
  const widget = await open(t, {
    init: () =>
      addEventListener("DOMContentLoaded", () => {
        const vector = new Float32Array(384);
        vector[0] = 1;
        const embedder = {
          fingerprint: "own",
          embed: async () => ({ vector, tokens: 3, truncated: false }),
          countTokens: async () => 3,
          dispose() {},
        };
        Object.assign(document.querySelector("evidence-chat"), { embedderFactory: async () => embedder });
      }),
  });
  for (let question = 0; question < 2; question++) {
    await widget.ask(QUESTION);
    await whenIdle(widget);
  }
  assert.deepEqual([site.readerRequests(), site.api.statementSearches], [[], []]);
  assert.equal(JSON.parse(sent()[0]).model, "own");
});

test("reading passages of the largest size blocks the page's thread for no task of 50 ms", async (t) => {
  const widget = await openWithReader(t, PATIENT);
  const statements = Array.from({ length: 400 }, (_, index) =>
    `Statement ${index} is about refunds, tents and boots. `.repeat(4),
  );
  const passages = Array.from({ length: 5 }, (_, index) => ({
    ...PASSAGE,
    chunk_id: PASSAGE.chunk_id.replace("2c", `${index}c`),
    statements,
  }));
  finding(...passages);
  await widget.page.evaluate(() => {
    const scope = /** @type {any} */ (globalThis);
    scope.longTasks = [];
    new PerformanceObserver((list) =>
      scope.longTasks.push(...list.getEntries().map(({ startTime, duration }) => ({ startTime, duration }))),
    ).observe({ type: "longtask" });
    // From the search on, to leave out the drawing of question and answer.
    const { fetch } = scope;
    scope.fetch = async (input, init) => {
      const isSearch = String(input).endsWith("/search");
      if (isSearch) scope.searchedAt = performance.now();
      else if (String(input).endsWith("/chat")) scope.sentAt = performance.now();
      return fetch(input, init);
    };
  });
  /** The long tasks while a question is read. */
  const measure = async () => {
    await widget.ask(QUESTION);
    assert.equal(readings().at(-1).passages.length, 5);
    await widget.page.waitForTimeout(200);
    return widget.page.evaluate(() => {
      const { longTasks, searchedAt, sentAt } = /** @type {any} */ (globalThis);
      return longTasks.filter(({ startTime }) => startTime >= searchedAt && startTime < sentAt);
    });
  };
  // On a machine that others use, too, any task may take long once.
  let long = await measure();
  for (let round = 0; round < 3 && long.length > 0; round++) long = await measure();
  assert.deepEqual(long, []);
});

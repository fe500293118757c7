// Answers that a language model wrote. Real Chromium and embedder, simulated API.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  answer,
  citation,
  failure,
  gate,
  generated,
  report,
  stepwise,
  support,
  supporting,
  whole,
} from "./support/answers.mjs";
import { ANSWER, openConversation, QUESTION, startWidgetSuite } from "./pages/widget/suite.mjs";

const { site, open, sent, withConversation } = await startWidgetSuite();

const SERVICE = "llm.example:8443";
const CONTENT = "You get your money back within 5 days. [1] Contact us before that. [1]";

const sendingTo = (service) => ({ ...site.api.config, answer_mode: "endpoint", sends_to: service });
const answering = (options) => site.api.respondWith(whole(generated(options)));

/** Opens the card of the badge with that number by keyboard; gives its highlighted words. */
async function wordsOnCard(widget, badge) {
  const card = await widget.openCard(widget.all("marker").nth(badge));
  return card.locator("mark").allInnerTexts();
}

describe("a generated answer", () => {
  test("a visible line and an announcement say that a model is writing", async (t) => {
    const steps = stepwise(generated());
    site.api.respondWith(steps);
    const widget = await open(t);
    const reply = await widget.ask(QUESTION, "pending");
    steps.step();
    await widget.role("waiting").getByText("Writing and checking…").waitFor();
    assert.equal(await widget.role("announcer").innerText(), "Writing and checking…");
    assert.equal(await reply.getAttribute("aria-busy"), "true");
    steps.step(6);
    await widget.reply("done");
    assert.equal(await widget.all("waiting").count(), 0);
    assert.match(await widget.role("announcer").innerText(), /^Answer: You get your money back .* language model/s);
    const stages = (await widget.events("stage")).map(({ detail }) => detail.stage);
    assert.deepEqual(stages.slice(-4), ["sent", "writing", "first_word", "complete"]);
  });

  test("with reduced motion, nothing moves while a model is writing", async (t) => {
    const steps = stepwise(generated());
    site.api.respondWith(steps);
    const widget = await open(t);
    await widget.page.emulateMedia({ reducedMotion: "reduce" });
    await widget.ask(QUESTION, "pending");
    steps.step();
    await widget.role("waiting").getByText("Writing").waitFor();
    const durations = await widget.element.evaluate(({ shadowRoot }) =>
      shadowRoot.getAnimations().map(({ effect }) => effect.getComputedTiming().activeDuration),
    );
    assert.deepEqual(
      durations.filter((milliseconds) => milliseconds > 1),
      [],
    );
  });

  test("a note below the text says who wrote it, from the first word on", async (t) => {
    const steps = stepwise(generated());
    site.api.respondWith(steps);
    const widget = await open(t);
    await widget.ask(QUESTION, "pending");
    steps.step(3);
    await widget.reply("streaming");
    const note = widget.role("generated-note");
    assert.equal(await note.innerText(), "Written by a language model from the documents of this site.");
    steps.step(4);
    await widget.reply("done");
    assert.equal(await note.innerText(), "Written by a language model from the documents of this site.");
    const { detail } = (await widget.events("message")).at(-1);
    assert.deepEqual([detail.text, detail.mode, detail.generation], [CONTENT, "generated", report()]);
  });

  test("a stopped answer still says who wrote it", async (t) => {
    const steps = stepwise(generated());
    site.api.respondWith(steps);
    const widget = await open(t);
    await widget.ask(QUESTION, "pending");
    steps.step(3);
    await widget.reply("streaming");
    await widget.role("stop").click();
    const reply = await widget.reply("stopped");
    assert.match(await reply.innerText(), /Written by a language model/);
  });

  test("sentences that were left out are counted, and the reasons open on demand", async (t) => {
    answering({ generation: report({ dropped: { number: 2, polarity: 1 } }) });
    const widget = await open(t);
    await widget.ask(QUESTION);
    const leftOut = widget.role("left-out");
    assert.equal(await leftOut.innerText(), "3 sentences were left out because no source supports them.");
    await leftOut.locator("summary").press("Enter");
    assert.deepEqual(await leftOut.locator("li").allInnerTexts(), [
      "Number or date not in the source: 2",
      "The source says the opposite, or limits it differently: 1",
    ]);
  });

  test("one sentence that was left out is counted in the singular", async (t) => {
    answering({ generation: report({ dropped: { unsupported: 1 } }) });
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.equal(await widget.role("left-out").innerText(), "1 sentence was left out because no source supports it.");
  });

  for (const fallback of ["timeout", "error", "unsupported", "budget", "declined"]) {
    test(`quotes instead of a generated answer look as usual: ${fallback}`, async (t) => {
      const [progress] = generated();
      const events = answer();
      const [name, end] = events.pop() ?? [];
      const generation = report({ sentences: 0, dropped: { name: 4 }, fallback });
      site.api.respondWith(whole([progress, ...events, [name, { ...end, generation }]]));
      const widget = await open(t);
      const reply = await widget.ask(QUESTION);
      assert.match(await reply.innerText(), ANSWER);
      assert.doesNotMatch(await reply.innerText(), /language model|left out/);
      assert.deepEqual(await wordsOnCard(widget, 0), ["Refunds are paid within 5 days."]);
      assert.equal(await widget.role("citation-card").locator("[data-role=verified-quote]").count(), 1);
      const { detail } = (await widget.events("message")).at(-1);
      assert.deepEqual([detail.mode, detail.generation.fallback], ["extractive", fallback]);
    });
  }
});

describe("the sources of a generated answer", () => {
  test("the card of a badge shows the source words of its own sentence, not as a quote", async (t) => {
    answering();
    const widget = await open(t);
    await widget.ask(QUESTION);
    const card = widget.role("citation-card");
    for (const [badge, words] of ["Refunds are paid within 5 days.", "Write to us first."].entries()) {
      assert.deepEqual(await wordsOnCard(widget, badge), [words]);
      assert.equal(await card.locator("[data-role=source-sentence]").innerText(), "Source sentence");
      assert.equal(await card.locator("[data-role=verified-quote]").count(), 0);
    }
  });

  test("the card has each passage of the document that supports the sentence", async (t) => {
    const other = "Money comes back after five days at most.";
    answering({
      citations: [
        supporting(),
        supporting({ chunk_id: "other", section: "Summary", excerpt: other, supports: [support(0, other, other)] }),
      ],
    });
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.deepEqual(await wordsOnCard(widget, 0), ["Refunds are paid within 5 days.", other]);
    assert.equal(await widget.role("citation-card").locator("[data-role=source-sentence]").count(), 2);
    assert.match(await widget.role("citation-card").innerText(), /Money · Page 3; Summary · Page 3/);
    assert.deepEqual(await wordsOnCard(widget, 1), ["Write to us first."]);
  });

  test("an open source highlights the words of all sentences", async (t) => {
    answering();
    const widget = await open(t);
    await widget.ask(QUESTION);
    await widget.all("marker").first().click();
    const passage = widget.role("passage");
    assert.deepEqual(await passage.locator("mark").allInnerTexts(), [
      "Refunds are paid within 5 days.",
      "Write to us first.",
    ]);
    assert.equal(await passage.locator("[data-role=source-sentence]").innerText(), "Source sentence");
    assert.equal(await widget.all("agreement").count(), 0);
  });

  test("words that the passage does not contain are neither highlighted nor verified", async (t) => {
    const invented = { ...support(0), text: "Refunds are paid within 2 days." };
    answering({ citations: [supporting({ supports: [invented, support(1, "Write to us first.")] })] });
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.deepEqual(await wordsOnCard(widget, 0), []);
    assert.equal(await widget.role("citation-card").locator("[data-role=source-sentence]").count(), 0);
    assert.deepEqual(await wordsOnCard(widget, 1), ["Write to us first."]);
    assert.equal(await widget.role("citation-card").locator("[data-role=source-sentence]").count(), 1);
  });

  test("a badge whose sentence has no source words shows the passage without highlights", async (t) => {
    answering({ citations: [supporting({ supports: [support(0)] })] });
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.deepEqual(await wordsOnCard(widget, 1), []);
    assert.match(await widget.role("card-excerpt").innerText(), /Refunds/);
  });

  test("backticks in two sentences do not hide the badge between them", async (t) => {
    answering({ deltas: ["Type `refund or ask [1]", " Then `wait. [1]"] });
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.equal(await widget.all("marker").count(), 2);
    assert.deepEqual(await wordsOnCard(widget, 1), ["Write to us first."]);
  });

  test("copies and exports keep the sources and say who wrote the answer", async (t) => {
    answering();
    const widget = await open(t);
    await widget.page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin: site.origin });
    await widget.ask(QUESTION);
    const copied = async (role) => {
      await widget.role(role).click();
      await widget.role(role).filter({ hasText: "Copied" }).waitFor();
      return widget.page.evaluate(() => navigator.clipboard.readText());
    };
    assert.equal(
      await copied("copy"),
      "You get your money back within 5 days. [Refunds] Contact us before that. [Refunds]\n\n" +
        "Written by a language model from the cited sources.",
    );
    const place = "[Refunds](https://shop.example/refunds), Money, p. 3";
    assert.equal(
      await copied("copy-markdown"),
      "You get your money back within 5 days. [^1] Contact us before that. [^2]\n\n" +
        "Written by a language model from the cited sources.\n\n" +
        `[^1]: ${place} — "Refunds are paid within 5 days."\n[^2]: ${place} — "Write to us first."`,
    );
    await widget.role("export").click();
    await widget.role("export-preview").filter({ hasText: "Refunds" }).waitFor();
  });
});

describe("the history", () => {
  const asked = { role: "user", content: QUESTION };
  const stored = { role: "assistant", content: CONTENT, mode: "generated", citations: [supporting()] };

  test("an opened conversation says which answers a model wrote, and has their source words", async (t) => {
    const quoted = { role: "assistant", content: "Refunds are paid within 5 days. [1]", citations: [citation()] };
    withConversation([asked, quoted, asked, stored]);
    const widget = await open(t);
    await openConversation(widget);
    await widget.all("assistant").nth(1).waitFor();
    const texts = await widget.all("assistant").allInnerTexts();
    assert.deepEqual(
      texts.map((text) => text.includes("Written by a language model from the documents of this site.")),
      [false, true],
    );
    assert.deepEqual(await wordsOnCard(widget, 0), ["Refunds are paid within 5 days."]);
    assert.equal(await widget.role("citation-card").locator("[data-role=verified-quote]").count(), 1);
    assert.deepEqual(await wordsOnCard(widget, 2), ["Write to us first."]);
    assert.equal(await widget.role("citation-card").locator("[data-role=source-sentence]").count(), 1);
  });

  test("a stored list of generated sentences has a badge for each", async (t) => {
    withConversation([asked, { ...stored, content: "- You get your money back. [1]\n- Contact us before. [1]" }]);
    const widget = await open(t);
    await openConversation(widget);
    await widget.reply("done");
    assert.deepEqual(await wordsOnCard(widget, 0), ["Refunds are paid within 5 days."]);
    assert.deepEqual(await wordsOnCard(widget, 1), ["Write to us first."]);
  });
});

describe("a generated answer that was cut", () => {
  const isMarked = async (widget) => (await widget.all("incomplete").allInnerTexts()).join() === "Incomplete answer";

  test("says so, also when it is repeated", async (t) => {
    answering({ generation: report({ cut: true }) });
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.ok(await isMarked(widget));
    assert.match(await widget.role("announcer").innerText(), /^Answer: Incomplete answer You get/);
    const [{ detail }] = (await widget.events("message")).slice(-1);
    assert.equal(detail.generation.cut, true);
  });

  test("says so in an opened conversation, and a whole one does not", async (t) => {
    const stored = { role: "assistant", content: CONTENT, mode: "generated", citations: [supporting()] };
    const asked = { role: "user", content: QUESTION };
    withConversation([asked, stored, asked, { ...stored, cut: true }]);
    const widget = await open(t);
    await openConversation(widget);
    await widget.all("assistant").nth(1).waitFor();
    assert.ok(await isMarked(widget));
    assert.equal(await widget.role("assistant").locator("[data-role=incomplete]").count(), 1);
  });
});

describe("where questions are sent", () => {
  const textFor = (service) =>
    `To write answers, your question and the passages found for it are sent to ${service}. ` +
    "Earlier questions are sent only if yours is searched together with them. Your account is not sent.";
  const HINT = "Answers are checked against their sources.";
  const QUOTES_HINT = "Answers quote their sources word for word.";
  const notice = (widget) => widget.element.locator("[data-role=privacy] p");
  const hint = (widget) => widget.element.locator("#hint").innerText();

  test("a notice names the service before the first question, and blocks nothing", async (t) => {
    site.api.config = sendingTo(SERVICE);
    answering();
    const widget = await open(t);
    await widget.role("input").focus();
    await notice(widget).waitFor();
    assert.equal(await notice(widget).innerText(), textFor(SERVICE));
    assert.equal(await hint(widget), HINT);
    assert.deepEqual(sent(), []);
    await widget.ask(QUESTION);
    assert.equal(await notice(widget).innerText(), textFor(SERVICE));
    assert.equal("mode" in JSON.parse(sent()[0]), false);
  });

  test("a dismissed notice stays away until the service changes, and can be opened again", async (t) => {
    site.api.config = sendingTo("dismissed.example");
    const widget = await open(t);
    const visit = async () => {
      await widget.page.reload();
      await widget.role("input").focus();
      await widget.role("privacy-info").waitFor();
    };
    await visit();
    await widget.role("privacy-dismiss").click();
    assert.equal(await notice(widget).count(), 0);
    assert.equal(await widget.role("input").evaluate((input) => input.matches(":focus")), true);
    await visit();
    assert.equal(await notice(widget).count(), 0);
    const info = widget.role("privacy-info");
    assert.equal(await info.getAttribute("aria-expanded"), "false");
    await info.click();
    assert.equal(await notice(widget).innerText(), textFor("dismissed.example"));
    assert.equal(await info.getAttribute("aria-expanded"), "true");
    await info.click();
    assert.equal(await notice(widget).count(), 0);
    site.api.config = sendingTo("other.example");
    await visit();
    assert.match(await notice(widget).innerText(), /sent to other\.example\./);
    site.api.config = sendingTo("dismissed.example");
    await visit();
    assert.equal(await notice(widget).count(), 0);
  });

  test("a notice can be dismissed where the browser stores nothing", async (t) => {
    site.api.config = sendingTo(SERVICE);
    const init = () =>
      Object.defineProperty(globalThis, "localStorage", {
        get: () => {
          throw new DOMException("no", "SecurityError");
        },
      });
    const widget = await open(t, { init });
    await widget.role("input").focus();
    await widget.role("privacy-dismiss").click();
    assert.equal(await notice(widget).count(), 0);
    assert.equal(await widget.all("privacy-info").count(), 1);
  });

  /** Faults of the settings; each gives whether it handles the request. */
  const FAULTS = {
    "cannot be read": (response) => (failure(503, "upstream_unavailable")(response), true),
    "do not arrive": () => true,
    "name no service yet": () => false,
  };
  for (const [when, interfere] of Object.entries(FAULTS))
    test(`no service gets a question while the settings ${when}`, async (t) => {
      let isBroken = true;
      site.api.interfere = async ({ path }, response) => isBroken && path === "/api/config" && interfere(response);
      const widget = await open(t);
      await widget.ask(QUESTION);
      assert.equal(await notice(widget).count(), 0);
      assert.equal(JSON.parse(sent()[0]).mode, "extractive");
      isBroken = false;
      site.api.config = sendingTo("late.example");
      await widget.page.reload();
      await widget.ask(QUESTION);
      assert.match(await notice(widget).innerText(), /sent to late\.example\./);
      assert.equal("mode" in JSON.parse(sent()[1]), false);
    });

  test("a question waits for settings that are on their way, and for the notice", async (t) => {
    const { opened, open: release } = gate();
    site.api.config = sendingTo("slow.example");
    site.api.interfere = async ({ path }) => {
      if (path === "/api/config") await opened;
      return false;
    };
    const widget = await open(t);
    await widget.role("input").fill(QUESTION);
    await widget.role("input").press("Enter");
    await widget.until(async () => (await widget.events("ready")).length > 0, "the model");
    await widget.page.waitForTimeout(200);
    assert.deepEqual(sent(), []);
    release();
    await widget.reply("done");
    assert.match(await notice(widget).innerText(), /sent to slow\.example\./);
    assert.equal("mode" in JSON.parse(sent()[0]), false);
  });

  test("a page that wants quotes gets them, and its visitors no notice", async (t) => {
    site.api.config = sendingTo(SERVICE);
    const widget = await open(t, { attributes: { "answer-mode": "extractive" } });
    await widget.ask(QUESTION);
    assert.equal(JSON.parse(sent()[0]).mode, "extractive");
    assert.equal((await notice(widget).count()) + (await widget.all("privacy-info").count()), 0);
    assert.equal(await hint(widget), QUOTES_HINT);
    await widget.element.evaluate((chat) => (chat.answerMode = "site"));
    assert.equal(await notice(widget).innerText(), textFor(SERVICE));
    assert.equal(await hint(widget), HINT);
    await widget.ask(QUESTION);
    assert.equal("mode" in JSON.parse(sent()[1]), false);
    await widget.element.evaluate((chat) => (chat.answerMode = "extractive"));
    assert.equal(await notice(widget).count(), 0);
  });

  test("without a model there is neither a notice nor a button for it", async (t) => {
    const widget = await open(t);
    await widget.ask(QUESTION);
    assert.equal((await notice(widget).count()) + (await widget.all("privacy-info").count()), 0);
    assert.equal(await hint(widget), QUOTES_HINT);
  });
});

for (const [lang, note, leftOut, source] of [
  ["de", "Von einem Sprachmodell", "2 Sätze wurden weggelassen", "Satz aus der Quelle"],
  ["es", "Redactado por un modelo", "Se omitieron 2 frases", "Frase de la fuente"],
  ["fr", "Rédigé par un modèle", "2 phrases ont été écartées", "Phrase de la source"],
  ["ar", "كتبها نموذج لغوي", "استُبعدت جملتان", "جملة المصدر"],
  ["ja", "言語モデル", "2 文を省きました", "出典の文"],
]) {
  test(`a generated answer is explained in the visitor's language: ${lang}`, async (t) => {
    site.api.config = sendingTo(SERVICE);
    answering({ generation: report({ dropped: { name: 2 } }) });
    const widget = await open(t, { attributes: { lang } });
    await widget.ask(QUESTION);
    const text = await widget.role("generated-note").innerText();
    assert.ok(text.includes(note) && text.includes(leftOut), text);
    assert.ok((await widget.role("privacy").innerText()).includes(SERVICE));
    await wordsOnCard(widget, 0);
    assert.equal(await widget.role("source-sentence").innerText(), source);
    const direction = await widget.role("generated-note").evaluate((note) => getComputedStyle(note).direction);
    assert.equal(direction, lang === "ar" ? "rtl" : "ltr");
  });
}

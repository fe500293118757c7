// Questions as visitors ask them, on the sample pages: the first sentence of each answer, or a refusal.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ask, answerText, only } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";

const { demo } = await startDemoSuite();

/** Asks as a new user, so that questions do not share a rate limit. */
async function outcomeOf(question) {
  const { status, events } = await ask(demo.info.chat_url, await demo.newUser(), question);
  assert.equal(status, 200);
  if (events[0].event === "refusal") return { refusal: only(events, "refusal") };
  assert.equal(events.at(-1).event, "answer_end");
  const { citations } = only(events, "sources");
  const text = answerText(events);
  const quotes = citations.flatMap((citation) => citation.quotes).map((quote) => quote.plain ?? quote.text);
  const { hedged } = only(events, "answer_start");
  return { text, first: text.split(/ \[\d+\]/)[0], quotes, hedged };
}

describe("the first sentence of an answer", () => {
  const expected = {
    "What time do you close on Sunday?": "Shop in Lindau: Sunday and public holidays – Opening hours: closed",
    "Can I get my money back after two weeks?":
      "You can return any unused item and get your money back within 30 days of delivery.",
    "How long does delivery to Switzerland take?":
      "Methods, times and prices: Switzerland and Norway – Delivery time: 5 to 10 working days; Price: 14.90 euros; Free from: never",
  };
  for (const [question, sentence] of Object.entries(expected)) {
    test(`the first sentence answers "${question}"`, async () => {
      const { first, hedged } = await outcomeOf(question);
      assert.equal(first, sentence);
      assert.equal(hedged, false);
    });
  }
});

describe("the quotes of an answer", () => {
  const expected = {
    "Do you ship to Canada?":
      "Fernhollow Goods delivers to all countries of the European Union, to Switzerland and to Norway.",
    "Can I pay by invoice?": "Purchase on invoice is available within the country for orders up to 300 euros.",
    "Is my data shared with third parties?":
      "Your name and address are passed on to the carrier that delivers the parcel.",
  };
  for (const [question, sentence] of Object.entries(expected)) {
    test(`a quote answers "${question}"`, async () => {
      const { quotes, text } = await outcomeOf(question);
      assert.ok(quotes.includes(sentence), text);
      assert.ok(text.includes(sentence), text);
    });
  }
});

test("an answer to a question about Sunday mentions no other day", async () => {
  assert.doesNotMatch((await outcomeOf("What time do you close on Sunday?")).text, /Monday/);
});

test("an answer without the country of the question is hedged", async () => {
  assert.equal((await outcomeOf("Do you ship to Canada?")).hedged, true);
});

test("a question about the time of a refund is not answered with the return period", async () => {
  const { quotes } = await outcomeOf("When will I get my refund?");
  assert.ok(
    quotes.some((quote) => quote.includes("issues the refund within 5 working days")),
    quotes.join("\n"),
  );
  for (const quote of quotes) assert.doesNotMatch(quote, /30 days|return any unused/);
});

/** Outcomes, from worst to best. */
const OUTCOMES = ["missing", "quoted", "first"];

/** What a person would answer first, and how far the answer gets today. A worse outcome fails; a better one is reported. */
describe("known gaps", () => {
  /** @type {Record<string, [sentence: RegExp, today: string]>} */
  const gaps = {
    "Do gift cards expire?": [/A gift card is valid for 3 years/, "missing"],
    "Can I pay by invoice?": [/Purchase on invoice is available within the country/, "quoted"],
    "who pays for return shipping": [/Returns within the country are free of charge/, "missing"],
    "Is my data shared with third parties?": [/Your name and address are passed on to the carrier/, "quoted"],
    "What if my shoes do not fit?": [/An exchange for another size or colour is free/, "missing"],
    "How long is a voucher good for?": [/A gift card is valid for 3 years/, "missing"],
  };
  for (const [question, [sentence, today]] of Object.entries(gaps)) {
    test(`"${question}"`, async (context) => {
      const { first = "", text = "" } = await outcomeOf(question);
      const outcome = sentence.test(first) ? "first" : sentence.test(text) ? "quoted" : "missing";
      report(context, outcome, today, text);
    });
  }
  test('"My card was charged twice", which no page answers', async (context) => {
    const { refusal, hedged, text } = await outcomeOf("My card was charged twice");
    report(context, refusal || hedged ? "first" : "missing", "missing", text);
  });
});

function report(context, outcome, today, text) {
  const rank = (name) => OUTCOMES.indexOf(name);
  if (rank(outcome) > rank(today)) context.diagnostic(`better than "${today}": list it as "${outcome}"`);
  assert.ok(rank(outcome) >= rank(today), `"${outcome}" is worse than "${today}": ${text}`);
}

test("an off-topic question is refused", async () => {
  const { refusal } = await outcomeOf("Which planet in the solar system has the most moons?");
  assert.equal(refusal?.reason, "no_match");
});

describe("Arabic questions about English pages", () => {
  const questions = [
    "كم تستغرق مدة التوصيل؟",
    "هل يمكنني إرجاع المنتج واسترداد نقودي؟",
    "ما هي ساعات العمل يوم الأحد؟",
    "كيف أدفع بالفاتورة؟",
    "هل تشحنون إلى سويسرا؟",
  ];
  for (const question of questions) {
    test(`"${question}" is refused`, async () => {
      const { refusal } = await outcomeOf(question);
      assert.match(refusal?.reason ?? "answered", /^(unreadable_language|no_match)$/);
    });
  }
});

test("a question in Arabic that shares one word with the pages is refused with the reason", async () => {
  const { refusal } = await outcomeOf("هل يمكنني الدفع ببطاقة Visa عند استلام الطلب في المنزل؟");
  assert.equal(refusal?.reason, "unreadable_language");
});

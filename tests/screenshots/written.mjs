// A scripted language model: the words of a real one would change with every picture.

const EXCERPT =
  "You can return any unused item and get your money back within 30 days of delivery. The 30-day return period starts on the " +
  "day the parcel is delivered, not on the day you order. Orders placed between 15 November and 24 December can be returned " +
  "until 31 January.\n\nMembers of the Fernhollow Circle have 60 days instead of 30 to return an item.";

/** The sentences of the answer with the words of the passage behind them. */
const SENTENCES = [
  [
    "Yes, you get your money back for an unused item within 30 days of delivery. [1]",
    "You can return any unused item and get your money back within 30 days of delivery.",
  ],
  [
    " Members of the Fernhollow Circle have 60 days to return it. [1]",
    "Members of the Fernhollow Circle have 60 days instead of 30 to return an item.",
  ],
];

const CITATION = {
  index: 1,
  chunk_id: "2c5ea4c0-4067-41e9-8bad-9b1deb4d3b7d",
  document_id: "3f333df6-90a4-4fda-8dd3-9485d27cee36",
  title: "Refunds and returns",
  section: "Refunds and returns › Return period",
  score: 0.62,
  strength: "strong",
  excerpt: EXCERPT,
  quotes: [],
  supports: SENTENCES.map(([, text], sentence) => {
    const start = EXCERPT.indexOf(text);
    return { start, end: start + text.length, text, sentence };
  }),
};

/** @type {[name: string, data: object]} */
const PROGRESS = ["progress", { stage: "writing" }];

/** @type {[name: string, data: object][]} */
const ANSWER = [
  PROGRESS,
  ["answer_start", { session_id: "7c9e6679-7425-40de-944b-e07fc1f90ae7", hedged: false, mode: "generated" }],
  ...SENTENCES.map(([text]) => /** @type {[string, object]} */ (["answer_delta", { text }])),
  ["sources", { citations: [CITATION], also_found: [], referenced_indices: [1] }],
  [
    "answer_end",
    {
      message_id: "9b2d6f4e-5d2c-5f0a-8a57-2f0c4a1f1c55",
      persisted: true,
      generation: {
        model: "scripted",
        sentences: 2,
        dropped: { number: 1, unsupported: 1 },
        invalid_markers: 0,
        repaired_citations: 0,
      },
    },
  ],
];

/** Makes the site one whose answers a model of a service writes. */
export async function useService(page) {
  await page.route(/\/api\/config$/, async (route) => {
    const response = await route.fetch();
    const settings = { ...(await response.json()), answer_mode: "endpoint", sends_to: "llm.example.com" };
    await route.fulfill({ response, json: settings });
  });
}

/** Answers every question with the written answer. */
export async function writeAnswers(page, demo) {
  await useService(page);
  await page.route(demo.info.chat_url, (route) =>
    route.request().method() === "POST"
      ? route.fulfill({
          contentType: "text/event-stream",
          headers: { "access-control-allow-origin": "*" },
          body: ANSWER.map(frame).join(""),
        })
      : route.fallback(),
  );
}

/** Answers every question with the beginning of a stream that does not go on: a model is writing. */
export async function writeForEver(page, demo) {
  await useService(page);
  await page.evaluate(
    ([url, text]) => {
      const send = globalThis.fetch;
      globalThis.fetch = (input, init) => {
        if (input !== url || init?.method !== "POST") return send(input, init);
        const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(text)) });
        return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
      };
    },
    [demo.info.chat_url, frame(PROGRESS)],
  );
}

function frame([name, data]) {
  return `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`;
}

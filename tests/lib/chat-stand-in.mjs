// A chat server for pages of examples: it answers every question with one quoted sentence from two sources.

/** @type {[type: string, data: object][]} */
const ANSWER = [
  ["answer_start", { session_id: "11111111-1111-4111-8111-111111111111" }],
  ["answer_delta", { text: "A refund takes five days. [1]" }],
  ["sources", { citations: ["Refunds", "Handbook"].map(citation), referenced_indices: [1] }],
  ["answer_end", { message_id: "22222222-2222-4222-8222-222222222222", persisted: true }],
];

function citation(title, index) {
  const text = "A refund takes five days.";
  const quotes = [{ start: 0, end: text.length, text, kind: "sentence", pieces: [{ text }] }];
  return {
    index: index + 1,
    chunk_id: `c${index}`,
    document_id: `d${index}`,
    title,
    score: 0.8,
    excerpt: text,
    quotes,
  };
}

/**
 * Answers the questions of a page, whatever its server is. Returns the requests.
 * @param {import("playwright-core").Page} page
 * @returns {Promise<import("playwright-core").Request[]>}
 */
export async function answerQuestions(page) {
  const asked = [];
  await page.route("**/api/chat", (route) => {
    asked.push(route.request());
    const events = ANSWER.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    return route.fulfill({ contentType: "text/event-stream", body: events.join("") });
  });
  return asked;
}

import { createEmbedder, EmbedderError } from "../dist/index.js";

const SENTENCES = [
  "Unused items can be returned within 30 days for a full refund.",
  "Standard delivery takes three to five working days.",
  "The battery lasts about eleven hours on a single charge.",
  "To choose a new password, follow the link in the e-mail we sent you.",
  "Our shop in the old town is open from nine to six, except on Sundays.",
  "Wash the jacket at 30 degrees and let it dry in the air.",
  "Repairs are free of charge for two years after the purchase.",
  "You can pay by card, by bank transfer or on delivery.",
  "The trail climbs through a pine forest and ends at a mountain lake.",
];

const query = /** @type {HTMLInputElement} */ (document.getElementById("query"));
const status = /** @type {HTMLElement} */ (document.getElementById("status"));
const bar = /** @type {HTMLProgressElement} */ (document.getElementById("progress"));
const results = /** @type {HTMLElement} */ (document.getElementById("results"));

start().catch((error) => {
  bar.hidden = true;
  status.textContent = error instanceof EmbedderError ? error.message : "Something went wrong. Please reload the page.";
});

async function start() {
  const started = performance.now();
  let source = "";
  const embedder = await createEmbedder({
    onProgress({ phase, loadedBytes, totalBytes }) {
      if (phase === "download") source = "downloaded";
      if (phase === "cache") source = "from the browser's cache";
      bar.value = loadedBytes / totalBytes;
      const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
      status.textContent = `Loading the model… ${megabytes(loadedBytes)} of ${megabytes(totalBytes)} MB`;
    },
  });
  const passages = await embedder.embedBatch(SENTENCES);
  bar.hidden = true;
  show(SENTENCES.map((text) => ({ text })));
  status.textContent = `Ready in ${seconds(started)} s, model ${source}.`;

  /** @type {AbortController | undefined} */
  let running;
  const search = async () => {
    // A new question cancels the previous one.
    running?.abort();
    running = new AbortController();
    const asked = performance.now();
    const question = query.value;
    try {
      const { vector } = await embedder.embed(question, { signal: running.signal });
      const milliseconds = performance.now() - asked;
      const scored = SENTENCES.map((text, index) => ({ text, score: dot(vector, passages[index].vector) }));
      show(scored.sort((a, b) => b.score - a.score));
      results.dataset.question = question;
      status.textContent = `Question embedded in ${milliseconds.toFixed(1)} ms.`;
    } catch (error) {
      const { code, message } = /** @type {EmbedderError} */ (error);
      if (code !== "aborted") status.textContent = message;
    }
  };
  query.addEventListener("input", () => void search());
  query.disabled = false;
  query.focus();
}

/**
 * The cosine similarity, since vectors have unit length: 1 for the same meaning, about 0 for unrelated texts.
 * @param {Float32Array} a
 * @param {Float32Array} b
 */
function dot(a, b) {
  return a.reduce((sum, value, index) => sum + value * b[index], 0);
}

/** @param {{ text: string, score?: number }[]} items */
function show(items) {
  results.replaceChildren(
    ...items.map(({ text, score }) => {
      const item = document.createElement("li");
      item.append(text);
      if (score === undefined) return item;
      item.dataset.scored = "";
      const share = Math.max(0, score);
      const meter = Object.assign(document.createElement("meter"), { value: share, title: "similarity" });
      meter.style.setProperty("--share", String(share));
      item.append(meter, Object.assign(document.createElement("output"), { value: score.toFixed(2) }));
      return item;
    }),
  );
}

function seconds(since) {
  return ((performance.now() - since) / 1000).toFixed(2);
}

// Runs one embedder, which an adapter module provides: `export default (options) => ({ load(), embed(texts), ids(texts) })`.
let embedder;

const commands = {
  /** Milliseconds from the start of loading to the first vector. */
  async load(adapterUrl, options) {
    const started = performance.now();
    const { default: createAdapter } = await import(adapterUrl);
    embedder = createAdapter({ ...options, origin: location.origin, threads: 1 });
    await embedder.load();
    await embedder.embed(["How do I reset my password?"]);
    return performance.now() - started;
  },

  /** Embeds the texts one by one, in a cycle, with `calls` calls in total. */
  async oneByOne(texts, calls) {
    for (let i = 0; i < calls; i++) await embedder.embed([texts[i % texts.length]]);
  },

  /** Embeds all texts in one call. */
  async batch(texts) {
    await embedder.embed(texts);
  },

  async vectors(texts) {
    const vectors = [];
    for (const text of texts) vectors.push(Array.from((await embedder.embed([text]))[0]));
    return vectors;
  },

  ids: (texts) => embedder.ids(texts),
};

onmessage = async ({ data: { command, args } }) => {
  try {
    postMessage({ result: await commands[command](...args) });
  } catch (error) {
    postMessage({ error: String(error instanceof Error ? error.stack : error) });
  }
};

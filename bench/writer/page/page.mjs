// A blank page until `load` is called. One writer for each page.
import { loaders } from "./loaders.mjs";

let writer;

/** Milliseconds until the writer is ready. */
window.load = async (id) => {
  const start = performance.now();
  writer = await loaders[id]();
  return performance.now() - start;
};

/** Writes up to `maxTokens` tokens. Times are milliseconds since the call. */
window.write = async (messages, maxTokens) => {
  const start = performance.now();
  const at = [];
  let text = "";
  const usage = await writer(messages, maxTokens, (piece) => {
    if (piece === "") return;
    text += piece;
    at.push(performance.now() - start);
  });
  return { ...usage, text, firstMs: at[0], lastMs: at.at(-1) };
};

// A blank page until `start` is called, which starts the embedder in a worker. One call at a time.
let worker;

window.start = () => {
  worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });
};

/** Runs a function of the worker's `commands`. */
window.call = (command, ...args) =>
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => ("error" in data ? reject(new Error(data.error)) : resolve(data.result));
    worker.onerror = (event) => reject(new Error(event.message || "the worker could not be loaded"));
    worker.postMessage({ command, args });
  });

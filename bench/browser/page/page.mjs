// A blank page until `start` is called; then the embedder lives in a worker of this page, one call at a time.
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

/** Uses this thread for a while, so that its process can be told from others. */
window.spin = (milliseconds) => {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
};

// A fake of @wllama/wllama: its worker starts from a `blob:` URL, and the file and the last message script the rest. A model file
// begins with "GGUF"; "OOM" and "DIED" script faults. The last message is JSON: {pieces, tokens, crash}.

const CONTEXT_TOKENS = 1000;
const WORKER = "onmessage = ({ data }) => postMessage(data);";

export class Wllama {
  #logger;
  #vocabulary = 0;
  /** @type {Worker | undefined} */
  #worker;
  #hasExited = false;

  constructor({ default: wasmUrl }, { logger }) {
    if (!wasmUrl.endsWith("/wllama.wasm")) throw new Error(`not the package's own file: ${wasmUrl}`);
    this.#logger = logger;
  }

  setCompat(compat) {
    if (compat !== null) throw new Error("would load from a CDN");
  }

  async loadModel([file], { n_threads: threads, n_gpu_layers: layers }) {
    if (threads !== 1 || layers !== 0) throw new Error("more than one thread");
    const url = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    this.#worker = new Worker(url, { type: "module" });
    await new Promise((resolve) => {
      this.#worker.onerror = this.#logger.error;
      this.#worker.onmessage = resolve;
      this.#worker.postMessage("started");
    });
    const start = await file.slice(0, 4).text();
    if (start.startsWith("OOM")) throw new RangeError("WebAssembly.Memory(): could not allocate memory");
    if (start === "GGUF") this.#vocabulary = 9;
    // Like the real one, which does not reject.
    else this.#logger.error("error loading model: invalid magic");
  }

  getLoadedContextInfo() {
    return { n_vocab: this.#vocabulary };
  }

  async createChatCompletion({ messages, max_tokens: maxTokens, temperature, abortSignal, onData }) {
    if (temperature !== 0) throw new Error("not greedy");
    const { content } = messages.at(-1);
    const script = content.startsWith("{") ? JSON.parse(content) : {};
    const { pieces = ["Hello", "."], tokens = content.length, crash = false } = script;
    if (tokens > CONTEXT_TOKENS) throw new Error(`request (${tokens} tokens) exceeds the available context size`);
    globalThis.running = (globalThis.running ?? 0) + 1;
    globalThis.overlapped ||= globalThis.running > 1;
    try {
      let written = 0;
      for (const piece of pieces.slice(0, maxTokens)) {
        await new Promise((resolve) => setTimeout(resolve));
        if (this.#hasExited) throw new Error("The model was unloaded");
        if (abortSignal.aborted) throw new DOMException("Operation aborted", "AbortError");
        if (crash) throw new WebAssembly.RuntimeError("unreachable");
        written++;
        onData({ choices: [{ delta: { content: piece }, finish_reason: null }] });
      }
      const reason = written < pieces.length ? "length" : "stop";
      const timings = { cache_n: 2, prompt_n: tokens - 2, predicted_n: written };
      onData({ choices: [{ delta: {}, finish_reason: reason }], timings });
    } finally {
      globalThis.running--;
    }
  }

  async exit() {
    this.#hasExited = true;
    this.#worker?.terminate();
  }
}

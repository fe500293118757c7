// The writers that are compared. A loader gives a function `(messages, maxTokens, onText) => { promptTokens, completionTokens }`.
const MODEL = "/model/model.gguf";

export const loaders = {
  async ours() {
    const module = "/ours/index.js";
    /** @type {typeof import("../../../writer/npm/src/index.ts")} */
    const { createWriter } = await import(module);
    const writer = await createWriter({ modelUrl: new URL(MODEL, location.href) });
    return (messages, maxTokens, onText) => writer.write(messages, { maxTokens, onText });
  },

  /** One thread, as on a page without cross-origin isolation, and the CPU. */
  async wllama() {
    const module = "/wllama/index.js";
    const { Wllama, LoggerWithoutDebug } = await import(module);
    const wllama = new Wllama({ default: "/wllama/wasm/wllama.wasm" }, { logger: LoggerWithoutDebug });
    const url = new URL(MODEL, location.href).href;
    await wllama.loadModelFromUrl(url, { n_ctx: 4096, n_threads: 1, n_gpu_layers: 0 });
    return async (messages, maxTokens, onText) => {
      /** @type {{ prompt_tokens?: number, completion_tokens?: number }} */
      let usage = {};
      await wllama.createChatCompletion({
        messages,
        max_tokens: maxTokens,
        temperature: 0,
        stream: true,
        stream_options: { include_usage: true },
        cache_prompt: false,
        onData(chunk) {
          onText(chunk.choices[0]?.delta?.content ?? "");
          usage = chunk.usage ?? usage;
        },
      });
      return { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
    };
  },
};

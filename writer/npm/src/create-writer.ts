import type { CacheManager, ChatCompletionChunk, LoadModelParams, ModelManager, Wllama } from "@wllama/wllama";
import { asWriterError, messageOf, WriterError, type WriterErrorCode } from "./errors.js";
import { type ModelDescription, modelFile, request, withoutQuery } from "./model-file.js";
import { type LoadProgress, queued, type Writer, type WriteResult, type WriteText } from "./writer.js";

/** Where the model is, and how to load it. */
export interface WriterOptions {
  /** A GGUF file with a chat template that llama.cpp reads. Relative URLs are resolved against the page. */
  readonly modelUrl: string | URL;
  readonly model?: ModelDescription | undefined;
  /** Stops loading, which then rejects with `aborted`. Has no effect once the writer is ready. */
  readonly signal?: AbortSignal | undefined;
  /** Called while the model is loading, about five times a second. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

const LOADING: LoadModelParams = {
  // More than any prompt and text. The memory grows with it.
  n_ctx: 4096,
  n_parallel: 1,
  // wllama can be stopped only between two batches.
  n_batch: 32,
  // Its other threads need pages with cross-origin isolation and without Trusted Types; graphics drivers differ.
  n_threads: 1,
  n_gpu_layers: 0,
  log_level: 4,
};
/** A module without content: "\\0asm" and the version. */
const EMPTY_MODULE = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/**
 * Creates a writer from a model file: loads it from the browser's cache or downloads it, and starts it in a Web Worker. Ask the
 * visitor before the first download.
 *
 * @example
 * ```js
 * const writer = await createWriter({ modelUrl: "/models/SmolLM2-135M-Instruct.Q4_1.gguf" });
 * await writer.write([{ role: "user", content: "Say hello." }], { onText: (piece) => console.log(piece) });
 * await writer.dispose();
 * ```
 * @throws {@link WriterError} with any of its codes except `context_too_long`.
 */
export async function createWriter(options: WriterOptions): Promise<Writer> {
  const { modelUrl, model = {}, onProgress = () => undefined } = options;
  const signal = options.signal ?? new AbortController().signal;
  try {
    signal.throwIfAborted();
    const start = await importWllama();
    const { file, keep } = await modelFile(modelUrl, model, signal, onProgress);
    const wllama = await start(file);
    keep();
    // wllama cannot be stopped while it loads.
    if (signal.aborted) void wllama.exit();
    signal.throwIfAborted();
    const [, name = ""] = /([^/]*?)(\.gguf)?$/i.exec(withoutQuery(modelUrl)) ?? [];
    return queued(name, writeText(wllama), () => wllama.exit());
  } catch (cause) {
    throw signal.aborted ? new WriterError("aborted", "Loading was aborted.", { cause }) : cause;
  }
}

const writeText =
  (wllama: Wllama): WriteText =>
  async (messages, { maxTokens, signal, onText }) => {
    let result: WriteResult = { ending: "stop" };
    const onData = ({ choices: [choice], timings }: ChatCompletionChunk) => {
      if (choice?.delta.content) onText(choice.delta.content);
      if (!choice?.finish_reason || !timings) return;
      const { cache_n: cached, prompt_n: read, predicted_n: completionTokens } = timings;
      const ending = choice.finish_reason === "length" ? "length" : "stop";
      result = { promptTokens: cached + read, completionTokens, ending };
    };
    const options = { max_tokens: maxTokens, temperature: 0, stream: true, onData, abortSignal: signal } as const;
    try {
      await wllama.createChatCompletion({ messages: [...messages], ...options });
      return result;
    } catch (thrown) {
      if (!/context size/i.test(messageOf(thrown))) throw thrown;
      throw asWriterError(thrown, "context_too_long", "The messages are too long");
    }
  };

/** Loads the engine's code, and checks that the page may run it. The result starts it with a model. */
async function importWllama(): Promise<(file: Blob) => Promise<Wllama>> {
  try {
    // wllama has 64-bit memory. Every browser with it has all else that is needed.
    new WebAssembly.Memory({ address: "i64", initial: 0n } as object as WebAssembly.MemoryDescriptor);
  } catch (cause) {
    const hint = "Use Chrome or Edge 133, Firefox 134, or a later version";
    throw asWriterError(cause, "unsupported", `This browser has no 64-bit WebAssembly. ${hint}`);
  }
  assertAllowed("'wasm-unsafe-eval' to its script-src", () => new WebAssembly.Module(EMPTY_MODULE));
  // A file of its own for bundlers, too: webpack loads chunks in a way that Trusted Types forbid.
  const url = new URL("./wllama.js", import.meta.url).href;
  const loading = import(/* @vite-ignore */ /* webpackIgnore: true */ url) as Promise<typeof import("./wllama.js")>;
  const { Wllama, createPolicy } = await loading.catch((thrown: unknown) => {
    throw asWriterError(thrown, "download_failed", "wllama.js could not be loaded. Deploy it next to index.js");
  });
  assertAllowed("evidence-chat-writer to its trusted-types", createPolicy);
  // Bundlers detect the file only in this exact form of `new URL`.
  const wasmUrl = new URL("./wllama.wasm", import.meta.url).href;
  // wllama never settles without it.
  await request(wasmUrl, { method: "HEAD" });
  return (file) =>
    new Promise((resolve, reject) => {
      let problem = "";
      // wllama only logs that its worker did not start, or what is wrong with the model.
      const error = (logged: unknown) => {
        if (logged instanceof Event) reject(blocked("blob: to its worker-src", logged));
        problem ||= messageOf(logged);
      };
      const logger = { debug: ignore, log: ignore, warn: ignore, error };
      // Its own download and cache are not used: nothing may be kept before it is verified.
      const unused = { cacheManager: {} as CacheManager, modelManager: {} as ModelManager };
      const wllama = new Wllama({ default: wasmUrl }, { logger, ...unused });
      // Otherwise it takes other files from a CDN where it does not work.
      wllama.setCompat(null);
      const failed = (thrown: unknown, code: WriterErrorCode, what: string) => {
        void wllama.exit();
        // wllama's errors have no codes.
        reject(
          /memory|alloc/i.test(problem || messageOf(thrown))
            ? asWriterError(problem || thrown, "out_of_memory", "This device's memory is too small for the model")
            : asWriterError(problem || thrown, code, what),
        );
      };
      wllama.loadModel([file], LOADING).then(
        () =>
          wllama.getLoadedContextInfo().n_vocab > 0
            ? resolve(wllama)
            : failed("no vocabulary", "invalid_model", "The file is not a model that llama.cpp reads"),
        (thrown) => failed(thrown, "crashed", "wllama did not start"),
      );
    });
}

function ignore(): void {
  // wllama's messages are for its developers.
}

/** Throws `blocked` if the Content-Security-Policy forbids something. */
function assertAllowed(addition: string, use: () => unknown): void {
  try {
    use();
  } catch (cause) {
    throw blocked(addition, cause);
  }
}

function blocked(addition: string, cause: unknown): WriterError {
  const message = `The Content-Security-Policy forbids the language model. Add ${addition}.`;
  return new WriterError("blocked", message, { cause });
}

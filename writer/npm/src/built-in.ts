import { WriterError } from "./errors.js";
import type { LoadProgress } from "./options.js";
import { languageModel, type LanguageModelSession, type LanguageModelStatic } from "./prompt-api.js";
import type { ChatMessage, WriteOptions, Writer, WriteResult } from "./writer.js";

/** Options of the browser's own model. */
export interface BuiltInOptions {
  /** Languages of the texts, as BCP 47 tags. Default: `["en"]`. Browsers support a few. */
  readonly languages?: readonly string[] | undefined;
  /** Stops the download of the model; the call rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called while the browser downloads its model. It tells only a fraction, so `totalBytes` is 1. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/**
 * Whether the browser has a language model of its own (Prompt API). `downloadable`: the browser downloads it first, which
 * takes gigabytes and needs a click of the visitor.
 */
export type BuiltInStatus = "unavailable" | "downloadable" | "available";

/** Whether the browser's own model can be used. Never rejects. */
export async function builtInStatus(options: Pick<BuiltInOptions, "languages"> = {}): Promise<BuiltInStatus> {
  try {
    const status = await languageModel()?.availability(expectedTexts(options));
    if (status === "available") return "available";
    return status === "downloadable" || status === "downloading" ? "downloadable" : "unavailable";
  } catch {
    return "unavailable";
  }
}

/**
 * Creates a writer from the browser's own model; `undefined` if there is none. Call it on a click of the visitor, who
 * agreed to the download.
 *
 * @throws {@link WriterError} `aborted`, `download_failed`.
 */
export async function builtInWriter(options: BuiltInOptions = {}): Promise<Writer | undefined> {
  const api = languageModel();
  if (!api || (await builtInStatus(options)) === "unavailable") return undefined;
  const { signal, onProgress } = options;
  const monitor = (target: EventTarget) =>
    target.addEventListener("downloadprogress", (event) => {
      const { loaded } = event as Event & { readonly loaded?: number };
      onProgress?.({ loadedBytes: loaded ?? 0, totalBytes: 1, isCached: false });
    });
  try {
    // Keeps the model in memory until the writer is disposed.
    const loaded = await api.create({ ...expectedTexts(options), monitor, ...(signal && { signal }) });
    return new BuiltInWriter(api, loaded, options);
  } catch (cause) {
    if (signal?.aborted) throw new WriterError("aborted", "Loading was aborted.", { cause });
    const reason = cause instanceof Error ? ` (${cause.message})` : "";
    throw new WriterError("download_failed", `The browser could not load its language model${reason}.`, { cause });
  }
}

const DEFAULT_MAX_TOKENS = 200;
/** The API has no limit of tokens, so the text is cut at a length that so many tokens rarely reach. */
const CHARACTERS_PER_TOKEN = 8;

class BuiltInWriter implements Writer {
  readonly name = "built-in";
  readonly #api: LanguageModelStatic;
  readonly #loaded: LanguageModelSession;
  readonly #options: BuiltInOptions;
  readonly #disposed = new AbortController();
  /** Settles when no text is being written. */
  #idle: Promise<unknown> = Promise.resolve();

  constructor(api: LanguageModelStatic, loaded: LanguageModelSession, options: BuiltInOptions) {
    this.#api = api;
    this.#loaded = loaded;
    this.#options = options;
  }

  write(messages: readonly ChatMessage[], options: WriteOptions = {}): Promise<WriteResult> {
    const result = this.#idle.then(() => this.#write(messages, options));
    this.#idle = result.catch(() => undefined);
    return result;
  }

  dispose(): Promise<void> {
    this.#disposed.abort();
    this.#loaded.destroy();
    return Promise.resolve();
  }

  async #write(messages: readonly ChatMessage[], options: WriteOptions): Promise<WriteResult> {
    const { maxTokens = DEFAULT_MAX_TOKENS, onText } = options;
    // eslint-disable-next-line no-restricted-properties -- browsers with the Prompt API have it
    const signal = AbortSignal.any([this.#disposed.signal, ...(options.signal ? [options.signal] : [])]);
    let session: LanguageModelSession | undefined;
    try {
      signal.throwIfAborted();
      // A session of its own: it must not remember other questions.
      const initialPrompts = messages.slice(0, -1);
      session = await this.#api.create({ ...expectedTexts(this.#options), initialPrompts, signal });
      let left = maxTokens * CHARACTERS_PER_TOKEN;
      for await (const piece of read(session.promptStreaming(messages.at(-1)?.content ?? "", { signal }), signal)) {
        onText?.(piece.slice(0, left));
        left -= piece.length;
        if (left <= 0) return { ending: "length" };
      }
      signal.throwIfAborted();
      return { ending: "stop" };
    } catch (cause) {
      throw signal.aborted ? new WriterError("aborted", "The call was aborted.", { cause }) : asFault(cause);
    } finally {
      session?.destroy();
    }
  }
}

/** The chunks of a stream until `signal` is aborted. Not all browsers can iterate over streams. */
async function* read(stream: ReadableStream<string>, signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  const reader = stream.getReader();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) yield chunk.value;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function asFault(cause: unknown): WriterError {
  const { name, message } = cause instanceof Error ? cause : { name: "", message: String(cause) };
  return name === "QuotaExceededError"
    ? new WriterError("context_too_long", `The messages are too long for the browser's model (${message}).`, { cause })
    : new WriterError("crashed", `The browser's language model failed (${message}).`, { cause });
}

function expectedTexts({ languages = ["en"] }: Pick<BuiltInOptions, "languages">) {
  const texts = [{ type: "text" as const, languages }];
  return { expectedInputs: texts, expectedOutputs: texts };
}

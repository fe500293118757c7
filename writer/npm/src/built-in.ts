import { asWriterError, WriterError } from "./errors.js";
import { type LoadProgress, queued, type Writer, type WriteText } from "./writer.js";

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

/** A conversation with the browser's model. */
interface LanguageModelSession {
  promptStreaming(input: string, options: { readonly signal: AbortSignal }): ReadableStream<string>;
  destroy(): void;
}

/** The global `LanguageModel`: https://webmachinelearning.github.io/prompt-api/ */
interface LanguageModelStatic {
  availability(options: object): Promise<"unavailable" | "downloadable" | "downloading" | "available">;
  create(options: object): Promise<LanguageModelSession>;
}

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
    return queued("built-in", writeText(api, options), () => loaded.destroy());
  } catch (cause) {
    if (signal?.aborted) throw new WriterError("aborted", "Loading was aborted.", { cause });
    throw asWriterError(cause, "download_failed", "The browser could not load its language model");
  }
}

/** The API has no limit of tokens, so the text is cut at a length that so many tokens rarely reach. */
const CHARACTERS_PER_TOKEN = 8;

/** Writes in a session of its own, which does not remember other questions. */
const writeText =
  (api: LanguageModelStatic, options: BuiltInOptions): WriteText =>
  async (messages, { maxTokens, signal, onText }) => {
    let session: LanguageModelSession | undefined;
    try {
      const initialPrompts = messages.slice(0, -1);
      session = await api.create({ ...expectedTexts(options), initialPrompts, signal });
      const reader = session.promptStreaming(messages.at(-1)?.content ?? "", { signal }).getReader();
      let left = maxTokens * CHARACTERS_PER_TOKEN;
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        onText(chunk.value.slice(0, left));
        left -= chunk.value.length;
        if (left <= 0) return { ending: "length" };
      }
      return { ending: "stop" };
    } catch (thrown) {
      if (!(thrown instanceof Error && thrown.name === "QuotaExceededError")) throw thrown;
      throw asWriterError(thrown, "context_too_long", "The messages are too long for the browser's model");
    } finally {
      // Ends the stream, too.
      session?.destroy();
    }
  };

/** The API, if this browser has it. */
function languageModel(): LanguageModelStatic | undefined {
  return (globalThis as { readonly LanguageModel?: LanguageModelStatic }).LanguageModel;
}

function expectedTexts({ languages = ["en"] }: Pick<BuiltInOptions, "languages">) {
  const texts = [{ type: "text", languages }];
  return { expectedInputs: texts, expectedOutputs: texts };
}

/** The parts of the Prompt API that are used here: https://webmachinelearning.github.io/prompt-api/ */
import type { ChatMessage } from "./writer.js";

interface ExpectedText {
  readonly type: "text";
  readonly languages: readonly string[];
}

/** The languages of a session. */
export interface ExpectedTexts {
  readonly expectedInputs: readonly ExpectedText[];
  readonly expectedOutputs: readonly ExpectedText[];
}

/** A conversation with the browser's model. */
export interface LanguageModelSession {
  promptStreaming(input: string, options: { readonly signal: AbortSignal }): ReadableStream<string>;
  destroy(): void;
}

/** The global `LanguageModel`. */
export interface LanguageModelStatic {
  availability(options: ExpectedTexts): Promise<"unavailable" | "downloadable" | "downloading" | "available">;
  create(
    options: ExpectedTexts & {
      readonly initialPrompts?: readonly ChatMessage[];
      readonly monitor?: (target: EventTarget) => void;
      readonly signal?: AbortSignal;
    },
  ): Promise<LanguageModelSession>;
}

/** The API, if this browser has it. */
export function languageModel(): LanguageModelStatic | undefined {
  return (globalThis as { readonly LanguageModel?: LanguageModelStatic }).LanguageModel;
}

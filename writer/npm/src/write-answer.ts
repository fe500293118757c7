import type { Verification } from "../wasm/verifier.js";
import { asWriterError, WriterError } from "./errors.js";
import { absolute } from "./options.js";
import { loadVerifier } from "./verifier.js";
import type { ChatMessage, Writer, WriteResult } from "./writer.js";

/** What is answered, and from what. */
export interface AnswerInput {
  readonly question: string;
  /** The citations of the extractive answer, as the API sends them. */
  readonly citations: readonly object[];
  /** Whether the passages may not answer the question. */
  readonly hedged: boolean;
}

/** Options of one answer. */
export interface AnswerOptions {
  /** Stops writing; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** After that time, the sentences so far are the answer. Default: 120000; `Infinity` waits for ever. */
  readonly timeoutMs?: number | undefined;
  /** The most tokens that the model may write. Default: 200. */
  readonly maxTokens?: number | undefined;
  /** Called with each sentence that was verified, with its markers, in order. */
  readonly onSentence?: ((delta: string) => void) | undefined;
  /** Defaults to `verifier_bg.wasm` inside this package. */
  readonly verifierUrl?: string | URL | undefined;
}

/** Sentences that the sources support. The names are those of the API. */
export interface VerifiedAnswer {
  /** The sentences with their markers. Joined, they are the text. */
  readonly deltas: readonly string[];
  /** The cited passages, each with the words that support a sentence (`supports`). */
  readonly citations: readonly object[];
  readonly referenced_indices: readonly number[];
}

/** How an answer was written. The names are those of the API. */
export interface GenerationReport {
  /** Name of the language model. */
  readonly model: string;
  /** Number of sentences of the answer. */
  readonly sentences: number;
  /** Number of sentences that were left out, by reason. */
  readonly dropped: { readonly [reason: string]: number };
  readonly invalid_markers: number;
  readonly repaired_citations: number;
  /** Why there is no answer: `timeout`, `error`, `unsupported` or `declined`. */
  readonly fallback?: string;
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
}

/** The outcome of {@link writeAnswer}. */
export interface WrittenAnswer {
  /** Missing if no sentence of the model could be verified: show the extractive answer. */
  readonly answer?: VerifiedAnswer;
  readonly generation: GenerationReport;
  /** What went wrong, if `generation.fallback` is `error`. */
  readonly error?: WriterError;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const DEFAULT_MAX_TOKENS = 200;
/** The share of the sources in the second attempt, if they are too long for the model. */
const SHORTER = 0.5;

/**
 * Lets a writer answer from the passages of an extractive answer, and verifies each of its sentences like the server does.
 * Every fault ends in `generation.fallback`.
 *
 * @throws only the reason of `signal`.
 */
export async function writeAnswer(
  writer: Writer,
  input: AnswerInput,
  options: AnswerOptions = {},
): Promise<WrittenAnswer> {
  const { signal } = options;
  signal?.throwIfAborted();
  let verification: Verification;
  try {
    // Bundlers detect the file only in this exact form of `new URL`.
    const url = options.verifierUrl ?? new URL("./verifier_bg.wasm", import.meta.url);
    const Verifier = await loadVerifier(absolute("verifierUrl", url));
    signal?.throwIfAborted();
    verification = new Verifier(JSON.stringify({ ...input, model: writer.name }));
  } catch (thrown) {
    signal?.throwIfAborted();
    return unverified(writer.name, asWriterError(thrown, "download_failed"));
  }
  try {
    return await write(writer, verification, options);
  } finally {
    free(verification);
  }
}

async function write(writer: Writer, verification: Verification, options: AnswerOptions): Promise<WrittenAnswer> {
  const { signal, timeoutMs = DEFAULT_TIMEOUT_MS, maxTokens = DEFAULT_MAX_TOKENS, onSentence } = options;
  const stop = new AbortController();
  const onAbort = () => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort);
  // setTimeout overflows at 2³¹ ms and would fire at once.
  const timer = timeoutMs < 2 ** 31 ? setTimeout(() => stop.abort(TIMEOUT), timeoutMs) : undefined;
  const show = (deltas: readonly string[]) => deltas.forEach((delta) => onSentence?.(delta));
  const onText = (piece: string) => {
    if (stop.signal.aborted) return;
    try {
      show(verification.push(piece));
      if (verification.isDone()) stop.abort(DONE);
    } catch (thrown) {
      stop.abort(asWriterError(thrown, "crashed"));
    }
  };
  try {
    const result = await generate(writer, verification, { maxTokens, signal: stop.signal, onText });
    verification.setUsage(result.promptTokens, result.completionTokens);
    show(verification.end(result.ending === "stop"));
    return outcome(verification, undefined);
  } catch (thrown) {
    signal?.throwIfAborted();
    const reason: unknown = stop.signal.reason;
    try {
      if (reason === DONE) {
        show(verification.end(true));
        return outcome(verification, undefined);
      }
      if (reason === TIMEOUT) return outcome(verification, "timeout");
      return { ...outcome(verification, "error"), error: asWriterError(reason ?? thrown, "crashed") };
    } catch (crash) {
      return unverified(writer.name, asWriterError(crash, "crashed"));
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Why writing was stopped. */
const TIMEOUT = new WriterError("timeout", "Writing took too long.");
const DONE = new WriterError("aborted", "The answer is long enough.");

/** Writes from all sources, or from their best part if the model cannot read all. */
async function generate(
  writer: Writer,
  verification: Verification,
  options: { maxTokens: number; signal: AbortSignal; onText: (piece: string) => void },
): Promise<WriteResult> {
  const tag = randomTag();
  const messages = (share: number) => JSON.parse(verification.messages(tag, share)) as ChatMessage[];
  try {
    return await writer.write(messages(1), options);
  } catch (thrown) {
    if (!(thrown instanceof WriterError && thrown.code === "context_too_long")) throw thrown;
    return writer.write(messages(SHORTER), options);
  }
}

/** A verifier that crashed cannot be freed. */
function free(verification: Verification): void {
  try {
    verification.free();
  } catch {
    // Its memory ends with the page.
  }
}

function outcome(verification: Verification, fault: "timeout" | "error" | undefined): WrittenAnswer {
  return JSON.parse(verification.finish(fault)) as WrittenAnswer;
}

/** The outcome if the verifier itself cannot run: nothing is shown that was not verified. */
function unverified(model: string, error: WriterError): WrittenAnswer {
  const generation = { model, sentences: 0, dropped: {}, invalid_markers: 0, repaired_citations: 0 };
  return { generation: { ...generation, fallback: "error" }, error };
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** Marks the sources in the prompt. A text that cannot guess it cannot pretend to end them. */
function randomTag(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => LETTERS[byte % LETTERS.length]).join("");
}

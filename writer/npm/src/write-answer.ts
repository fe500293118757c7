import initVerifier, { Verification } from "../wasm/verifier.js";
import { asWriterError, WriterError } from "./errors.js";
import type { ChatMessage, Writer, WriteResult } from "./writer.js";

/** The question and the citations of its answer. */
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
  /** After that time, the sentences so far are the answer. Default: 300000. */
  readonly timeoutMs?: number | undefined;
}

/** The outcome of {@link writeAnswer}. The names in `answer` and `generation` are those of the API. */
export interface WrittenAnswer {
  /** Missing if no sentence of the model could be verified: show the extractive answer. */
  readonly answer?: {
    /** The sentences with their markers. Joined, they are the text. */
    readonly deltas: readonly string[];
    /** The cited passages, each with the words that support a sentence (`supports`). */
    readonly citations: readonly object[];
    readonly referenced_indices: readonly number[];
  };
  readonly generation: {
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
  };
  /** The error, if `generation.fallback` is `error`. */
  readonly error?: WriterError;
}

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
  { question, citations, hedged }: AnswerInput,
  { signal, timeoutMs = 300_000 }: AnswerOptions = {},
): Promise<WrittenAnswer> {
  signal?.throwIfAborted();
  try {
    await loadVerifier();
    signal?.throwIfAborted();
    const verification = new Verification(question, JSON.stringify(citations), hedged, writer.name);
    return await write(writer, verification, signal, timeoutMs);
  } catch (thrown) {
    signal?.throwIfAborted();
    // Without the verifier, nothing is shown.
    const generation = { model: writer.name, sentences: 0, dropped: {}, invalid_markers: 0, repaired_citations: 0 };
    return { generation: { ...generation, fallback: "error" }, error: asCrash(thrown) };
  }
}

async function write(
  writer: Writer,
  verification: Verification,
  signal: AbortSignal | undefined,
  timeoutMs: number,
): Promise<WrittenAnswer> {
  const stop = new AbortController();
  let isDone = false;
  let isLate = false;
  const timer = setTimeout(() => stop.abort((isLate = true)), timeoutMs);
  const onText = (piece: string) => {
    if (either.aborted) return;
    isDone = verification.push(piece);
    if (isDone) stop.abort();
  };
  // eslint-disable-next-line no-restricted-properties -- browsers with a writer have it
  const either = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  let result: WriteResult = { ending: "stop" };
  try {
    result = await generate(writer, verification, { signal: either, onText });
  } catch (thrown) {
    signal?.throwIfAborted();
    if (isLate) return outcome(verification.finish("timeout"));
    if (!isDone) return { ...outcome(verification.finish("error")), error: asCrash(thrown) };
  } finally {
    clearTimeout(timer);
  }
  const ending = result.ending === "stop" ? "whole" : "cut";
  return outcome(verification.finish(ending, result.promptTokens, result.completionTokens));
}

function outcome(json: string): WrittenAnswer {
  const { answer, ...rest } = JSON.parse(json) as WrittenAnswer;
  return answer ? { answer, ...rest } : rest;
}

/** Writes from all sources, or from their best part if the model cannot read all. */
async function generate(
  writer: Writer,
  verification: Verification,
  options: { signal: AbortSignal; onText: (piece: string) => void },
): Promise<WriteResult> {
  // Marks the sources. A text that cannot guess it cannot pretend to end them.
  const tag = crypto.randomUUID().slice(0, 8);
  const messages = (share: number) => JSON.parse(verification.messages(tag, share)) as ChatMessage[];
  try {
    return await writer.write(messages(1), options);
  } catch (thrown) {
    if (!(thrown instanceof WriterError && thrown.code === "context_too_long")) throw thrown;
    return writer.write(messages(SHORTER), options);
  }
}

let started: Promise<unknown> | undefined;

/** Starts the verifier, once per page; a failure can be retried. It runs on this thread: a sentence takes microseconds. */
function loadVerifier(): Promise<unknown> {
  // Bundlers detect the file only in this exact form of `new URL`.
  started ??= fetch(new URL("./verifier_bg.wasm", import.meta.url))
    .then((response) => initVerifier({ module_or_path: response }))
    .catch((thrown: unknown) => {
      started = undefined;
      throw asWriterError(thrown, "download_failed", "Starting verifier_bg.wasm failed. Deploy it next to index.js");
    });
  return started;
}

function asCrash(thrown: unknown): WriterError {
  return asWriterError(thrown, "crashed", "Writing failed");
}

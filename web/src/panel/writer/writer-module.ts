/** The parts of `@evidence-chat/writer` that the widget uses. The package is loaded on demand, or not at all. */
import type { Citation, GenerationReport } from "../../client/wire.js";

/** A language model on this device. */
export interface Writer {
  readonly name: string;
  dispose(): Promise<void>;
}

/** How far a model is loaded. */
export interface WriterProgress {
  readonly loadedBytes: number;
  readonly totalBytes: number;
  readonly isCached: boolean;
}

/** Progress and cancellation of loading. */
export interface WriterHooks {
  readonly onProgress: (progress: WriterProgress) => void;
  readonly signal: AbortSignal;
}

/** What was written, and why if nothing was. */
export interface Written {
  readonly answer?: { readonly deltas: readonly string[]; readonly citations: readonly object[] };
  readonly generation: { readonly [name in "model" | "sentences" | "dropped"]: GenerationReport[name] } & {
    readonly fallback?: string;
  };
  readonly error?: Error & { readonly code?: string };
}

/** The module `@evidence-chat/writer`. */
export interface WriterModule {
  createWriter(
    options: {
      readonly modelUrl: string;
      readonly model: { readonly byteLength?: number | undefined; readonly sha256?: string | undefined };
    } & WriterHooks,
  ): Promise<Writer>;
  builtInStatus(options: { readonly languages: readonly string[] }): Promise<string>;
  builtInWriter(options: { readonly languages: readonly string[] } & WriterHooks): Promise<Writer | undefined>;
  hasModel(url: string, byteLength?: number): Promise<boolean>;
  modelSize(url: string): Promise<number>;
  writeAnswer(
    // Bivariant, as methods are: the package's own `Writer` has more members.
    writer: never,
    input: { readonly question: string; readonly citations: readonly Citation[]; readonly hedged: boolean },
    options: { readonly signal: AbortSignal },
  ): Promise<Written>;
}

/** Loads the module. */
export type WriterLoader = () => Promise<WriterModule>;

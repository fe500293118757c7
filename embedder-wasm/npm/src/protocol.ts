import type { EmbedderErrorCode } from "./errors.js";
import type { PassageToRead } from "./embedding.js";
import type { LoadProgress } from "./progress.js";

/**
 * Messages from the page to the engine. The first is `load`, sent once. `load_reader` is sent again only after `reader_failed` or
 * `stop_reader`, and `read` only after `reader_ready`.
 */
export type Request =
  | { readonly type: "load"; readonly modelUrl: string; readonly wasmUrl: string; readonly cache: boolean }
  | { readonly type: "embed"; readonly id: number; readonly texts: readonly string[] }
  | { readonly type: "count"; readonly id: number; readonly text: string }
  | { readonly type: "load_reader"; readonly readerUrl: string }
  | { readonly type: "stop_reader" }
  | {
      readonly type: "read";
      readonly id: number;
      readonly question: string;
      readonly passages: readonly PassageToRead[];
    }
  | { readonly type: "cancel"; readonly id: number };

/** Messages from the engine to the page. */
export type Reply =
  | { readonly type: "progress"; readonly progress: LoadProgress }
  | { readonly type: "ready"; readonly fingerprint: string }
  | { readonly type: "load_failed"; readonly code: EmbedderErrorCode; readonly message: string }
  | ({ readonly type: "embedded"; readonly id: number } & Vectors)
  | { readonly type: "counted"; readonly id: number; readonly tokens: number }
  | { readonly type: "reader_progress"; readonly progress: LoadProgress }
  | { readonly type: "reader_ready" }
  | { readonly type: "reader_failed"; readonly code: EmbedderErrorCode; readonly message: string }
  | { readonly type: "passages_read"; readonly id: number; readonly scores: (number | null)[][] }
  | { readonly type: "call_failed"; readonly id: number; readonly message: string }
  | { readonly type: "crashed"; readonly message: string };

/** The embeddings of n texts in three buffers, which are transferred to another thread without copying. */
export interface Vectors {
  /** n × 384, row by row. */
  readonly vectors: Float32Array<ArrayBuffer>;
  /** n token counts, before truncation. */
  readonly tokens: Uint32Array<ArrayBuffer>;
  /** n values, 0 or 1. */
  readonly truncated: Uint8Array<ArrayBuffer>;
}

/** Length of a vector. */
export const DIMENSIONS = 384;

/** A connection to an engine, wherever it runs. */
export interface Port {
  post(request: Request): void;
  /** Ends the engine and frees its memory; no event follows. */
  close(): void;
}

/** Handlers of what a port delivers. */
export interface PortEvents {
  reply(reply: Reply): void;
  /** The engine ended unexpectedly; `reason` may be empty. */
  died(reason: string): void;
}

/** Opens a port to a new engine. */
export type OpenPort = (events: PortEvents) => Port;

import type { EmbedderErrorCode } from "./errors.js";
import type { LoadProgress } from "./progress.js";

/** What the page asks. `load` comes first and once. */
export type Request =
  | { readonly type: "load"; readonly modelUrl: string; readonly wasmUrl: string; readonly cache: boolean }
  | { readonly type: "embed"; readonly id: number; readonly texts: readonly string[] }
  | { readonly type: "count"; readonly id: number; readonly text: string }
  | { readonly type: "cancel"; readonly id: number };

/** What the engine answers. */
export type Reply =
  | { readonly type: "progress"; readonly progress: LoadProgress }
  | { readonly type: "ready"; readonly fingerprint: string }
  | { readonly type: "load_failed"; readonly code: EmbedderErrorCode; readonly message: string }
  | ({ readonly type: "embedded"; readonly id: number } & Vectors)
  | { readonly type: "counted"; readonly id: number; readonly tokens: number }
  | { readonly type: "call_failed"; readonly id: number; readonly message: string }
  | { readonly type: "crashed"; readonly message: string };

/** The embeddings of n texts, packed so that they cross to another thread without being copied. */
export interface Vectors {
  /** n × 384, row by row. */
  readonly vectors: Float32Array<ArrayBuffer>;
  /** n token counts, before truncation. */
  readonly tokens: Uint32Array<ArrayBuffer>;
  /** n times 0 or 1. */
  readonly truncated: Uint8Array<ArrayBuffer>;
}

/** Length of a vector. */
export const DIMENSIONS = 384;

/** The way to an engine, wherever it runs. */
export interface Port {
  post(request: Request): void;
  /** Ends the engine and frees its memory; nothing is heard of it afterwards. */
  close(): void;
}

/** Where a port delivers. */
export interface PortEvents {
  reply(reply: Reply): void;
  /** The engine is gone without having been asked to; `reason` may be empty. */
  died(reason: string): void;
}

/** Opens the way to an engine of its own. */
export type OpenPort = (events: PortEvents) => Port;

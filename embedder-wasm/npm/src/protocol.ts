import type { EmbedderErrorCode } from "./errors.js";
import type { EmbedderProgress } from "./progress.js";

/** An embedded text. */
export interface TextEmbedding {
  /** 384 numbers of unit length. */
  readonly vector: Float32Array;
  /** Tokens of the whole text with [CLS] and [SEP], before truncation. */
  readonly tokenCount: number;
  /** Whether the text was longer than the 256 tokens the model reads. */
  readonly truncated: boolean;
}

/** What the page asks of the worker. `load` comes first and once. */
export type WorkerRequest =
  | { readonly type: "load"; readonly modelUrl: string; readonly wasmUrl: string }
  | { readonly type: "embed"; readonly id: number; readonly text: string };

/** What the worker tells the page. */
export type WorkerReply =
  | { readonly type: "progress"; readonly progress: EmbedderProgress }
  | { readonly type: "ready"; readonly fingerprint: string }
  | { readonly type: "load_failed"; readonly code: EmbedderErrorCode; readonly message: string }
  | { readonly type: "embedded"; readonly id: number; readonly embedding: TextEmbedding }
  | { readonly type: "embed_failed"; readonly id: number; readonly message: string };

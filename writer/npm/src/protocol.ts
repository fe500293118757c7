import type { WriterErrorCode } from "./errors.js";
import type { LoadProgress } from "./options.js";
import type { ChatMessage } from "./writer.js";

/** Messages from the page to the engine. The first is `load`, sent once. */
export type Request =
  | ({ readonly type: "load" } & ModelFile)
  | {
      readonly type: "write";
      readonly id: number;
      readonly messages: readonly ChatMessage[];
      readonly maxTokens: number;
    }
  | { readonly type: "count"; readonly id: number; readonly messages: readonly ChatMessage[] }
  | { readonly type: "cancel"; readonly id: number };

/** The model file and how to read it. */
export interface ModelFile {
  readonly modelUrl: string;
  readonly wasmUrl: string;
  /** `undefined` if the server tells. */
  readonly byteLength: number | undefined;
  /** SHA-256 of the file as lower-case hex; `undefined` if it is not checked. */
  readonly sha256: string | undefined;
  readonly cache: boolean;
}

/** Messages from the engine to the page. */
export type Reply =
  /** A part of the WebAssembly module has arrived. */
  | { readonly type: "starting" }
  | { readonly type: "progress"; readonly progress: LoadProgress }
  | { readonly type: "ready" }
  | { readonly type: "load_failed"; readonly code: WriterErrorCode; readonly message: string }
  | { readonly type: "piece"; readonly id: number; readonly text: string }
  | {
      readonly type: "written";
      readonly id: number;
      readonly promptTokens: number;
      readonly completionTokens: number;
      readonly ending: "stop" | "length";
    }
  | { readonly type: "counted"; readonly id: number; readonly tokens: number }
  | { readonly type: "call_failed"; readonly id: number; readonly code: WriterErrorCode; readonly message: string }
  | { readonly type: "crashed"; readonly message: string };

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

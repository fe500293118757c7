import type { BlockDigests } from "./loading/block-digests.js";
import type { WasmModule } from "./loading/start-wasm.js";
import type { ModelLoader, WasmEmbedder, WasmReader } from "../wasm/embedder.js";
import type { FileName } from "./file-identity.js";

// Filled in by the build.
declare const MODEL_BLOCKS: BlockDigests;
declare const READER_BLOCKS: BlockDigests;

/** A file that is loaded into WebAssembly, and what it becomes there. */
export interface LoadedFile<Loaded> {
  readonly name: FileName;
  /** The option that sets its URL. */
  readonly option: "modelUrl" | "readerUrl";
  /** Held by the tab that downloads it. */
  readonly lock: string;
  readonly blocks: BlockDigests;
  readonly newLoader: (wasm: WasmModule) => ModelLoader;
  /** Consumes the loader, even if it throws. `isVerified`: its bytes have the digests of the blocks. */
  readonly finish: (loader: ModelLoader, isVerified: boolean) => Loaded;
}

/** The model becomes the embedder. */
export const MODEL: LoadedFile<WasmEmbedder> = {
  name: "model",
  option: "modelUrl",
  lock: "evidence-chat-embedder",
  blocks: MODEL_BLOCKS,
  newLoader: ({ ModelLoader: Loader }) => new Loader(),
  finish: (loader, isVerified) => loader.finish(isVerified),
};

/** The reader shares the weights of an embedder. Another lock, so that no tab waits for it with its model. */
export function readerFor(embedder: WasmEmbedder): LoadedFile<WasmReader> {
  return {
    name: "reader",
    option: "readerUrl",
    lock: "evidence-chat-embedder-reader",
    blocks: READER_BLOCKS,
    newLoader: ({ ModelLoader: Loader }) => Loader.forReader(),
    finish: (loader, isVerified) => loader.finishReader(embedder, isVerified),
  };
}

/** Sentence embeddings in the browser and in Node.js: all-MiniLM-L6-v2 as WebAssembly, in a Web Worker. */
export { createEmbedder } from "./create-embedder.js";
export {
  type CallOptions,
  type Embedder,
  type Embedding,
  MAX_TOKENS,
  type PassageToRead,
  type ReaderOptions,
} from "./embedding.js";
export { EmbedderError, type EmbedderErrorCode } from "./errors.js";
export { clearCache, isCached } from "./cached.js";
export { downloadBytes, type FileName, modelBytes } from "./file-identity.js";
export type { EmbedderOptions } from "./options.js";
export type { LoadProgress } from "./progress.js";
export { type EmbedderMode, isSupported } from "./support.js";

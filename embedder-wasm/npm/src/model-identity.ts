/** The model file that this version of the package reads, and the name of what comes out. */
export interface ModelIdentity {
  readonly file: string;
  /** Of the file, lower-case hex. */
  readonly sha256: string;
  readonly byteLength: number;
  /** Of model, tokenizer and engine: 16 hex digits. */
  readonly fingerprint: string;
}

/** Filled in by the build, which asks the WebAssembly module. */
declare const MODEL_IDENTITY: ModelIdentity;

/** Bytes of the model file, uncompressed; known before anything is loaded. */
export function modelBytes(): number {
  return modelIdentity().byteLength;
}

/** Known without loading anything, so that the cache can be looked up and the download begun at once. */
export function modelIdentity(): ModelIdentity {
  return MODEL_IDENTITY;
}

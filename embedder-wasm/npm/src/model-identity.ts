/** The model file that this version of the package reads, and the fingerprint of its vectors. */
export interface ModelIdentity {
  /** Name of the file in this package, which is compressed with gzip. */
  readonly file: string;
  /** Size of the uncompressed file. */
  readonly byteLength: number;
  /** Size of the compressed file; of the uncompressed one in a build without the model. */
  readonly downloadBytes: number;
  /** Identifies model, tokenizer and engine: 16 hex digits. */
  readonly fingerprint: string;
}

/** Filled in by the build, which asks the WebAssembly module. */
declare const MODEL_IDENTITY: ModelIdentity;

/** Size of the uncompressed model file in bytes; known before anything is loaded. */
export function modelBytes(): number {
  return modelIdentity().byteLength;
}

/** Size in bytes of the model file in this package, which a visitor downloads once; known before anything is loaded. */
export function downloadBytes(): number {
  return modelIdentity().downloadBytes;
}

/** Known before WebAssembly is loaded, so that the cache lookup and the download can start at once. */
export function modelIdentity(): ModelIdentity {
  return MODEL_IDENTITY;
}

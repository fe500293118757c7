/** A file that this version of the package reads, and the fingerprint of the results. */
export interface FileIdentity {
  /** Name of the file in this package, which is compressed with gzip. */
  readonly file: string;
  /** Size of the uncompressed file. */
  readonly byteLength: number;
  /** Size of the compressed file; in a build without the file, of the uncompressed file. */
  readonly downloadBytes: number;
  /** 16 hex digits that identify model, tokenizer and engine; for the reader, the reader as well. */
  readonly fingerprint: string;
}

/** The files that are downloaded: the model of the vectors, and the reader. */
export type FileName = "model" | "reader";

// Filled in by the build, which asks the WebAssembly module.
declare const MODEL_IDENTITY: FileIdentity;
declare const READER_IDENTITY: FileIdentity;

/** Size of the uncompressed model file in bytes; known before anything is loaded. */
export function modelBytes(): number {
  return MODEL_IDENTITY.byteLength;
}

/** Size in bytes of the file in this package, which a visitor downloads once; known before anything is loaded. */
export function downloadBytes(file: FileName = "model"): number {
  return identityOf(file).downloadBytes;
}

/** Known before WebAssembly is loaded, so that the cache lookup and the download can start at once. */
export function identityOf(file: FileName): FileIdentity {
  return file === "reader" ? READER_IDENTITY : MODEL_IDENTITY;
}

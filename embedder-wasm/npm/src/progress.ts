/** How far loading the embedder or its reader has come. */
export interface LoadProgress {
  /**
   * - `start`: fetching the program
   * - `wait`: another tab of this site is downloading the file; its copy will be used. `loadedBytes`
   *   are the bytes of the other tab
   * - `download`, `cache`: reading the file from the network, or from the browser's cache
   * - `initialize`: verifying and unpacking the file
   */
  readonly phase: "start" | "wait" | "download" | "cache" | "initialize";
  /** Bytes of the file so far, uncompressed. Returns to 0 when a download starts over. */
  readonly loadedBytes: number;
  /** Bytes of the whole file, uncompressed; known from the start. */
  readonly totalBytes: number;
}

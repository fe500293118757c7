/** How far loading the embedder has come. */
export interface LoadProgress {
  /**
   * - `start`: fetching the program
   * - `wait`: another tab of this site is downloading the model; its copy will be used. `loadedBytes` are those of that tab
   * - `download`, `cache`: reading the model from the network, or from the browser's cache
   * - `initialize`: verifying and unpacking the model
   */
  readonly phase: "start" | "wait" | "download" | "cache" | "initialize";
  /** Bytes of the model so far, uncompressed. Returns to 0 when a download starts over. */
  readonly loadedBytes: number;
  /** Bytes of the whole model, uncompressed; known from the start. */
  readonly totalBytes: number;
}

/** How far the embedder is on its way to being usable. */
export interface EmbedderProgress {
  readonly phase: "download" | "initialize" | "ready";
  /** Bytes of the model files received so far, from the network or the cache. */
  readonly loadedBytes: number;
  /** Bytes of all model files; `null` while a server has not told (yet). */
  readonly totalBytes: number | null;
}

/** Adds up the progress of several files into one `download` progress. */
export class DownloadProgress {
  readonly #files: { loadedBytes: number; totalBytes: number | null }[];
  readonly #report: (progress: EmbedderProgress) => void;

  constructor(fileCount: number, report: (progress: EmbedderProgress) => void) {
    this.#files = Array.from({ length: fileCount }, () => ({ loadedBytes: 0, totalBytes: null }));
    this.#report = report;
  }

  /** A callback for the file at `position` that reports the sum over all files. */
  ofFile(position: number): (loadedBytes: number, totalBytes: number | null) => void {
    return (loadedBytes, totalBytes) => {
      this.#files[position] = { loadedBytes, totalBytes };
      this.#report(this.snapshot("download"));
    };
  }

  snapshot(phase: EmbedderProgress["phase"]): EmbedderProgress {
    let loadedBytes = 0;
    let totalBytes: number | null = 0;
    for (const file of this.#files) {
      loadedBytes += file.loadedBytes;
      totalBytes = totalBytes === null || file.totalBytes === null ? null : totalBytes + file.totalBytes;
    }
    return { phase, loadedBytes, totalBytes };
  }
}

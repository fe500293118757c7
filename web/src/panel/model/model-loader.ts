import {
  type Embedder,
  EmbedderError,
  type EmbedderErrorCode,
  type EmbedderOptions,
  type LoadProgress,
} from "@evidence-chat/embedder";

/** The part of `Embedder` that the widget needs. It also uses the part that reads passages, if there is one. */
export type QuestionEmbedder = Pick<Embedder, "fingerprint" | "embed" | "countTokens" | "dispose"> | ReadingEmbedder;

/** The part of `Embedder` that the widget uses. */
export type ReadingEmbedder = Omit<Embedder, "embedBatch">;

/** Creates an embedder, like `createEmbedder` of `@evidence-chat/embedder`. */
export type EmbedderFactory = (options: EmbedderOptions) => Promise<QuestionEmbedder>;

/** The state of the model. */
export type ModelState =
  | { readonly status: "idle" }
  /** The visitor has to allow the download first. */
  | { readonly status: "consent" }
  | { readonly status: "loading"; readonly progress: LoadProgress | null }
  | { readonly status: "ready"; readonly embedder: QuestionEmbedder }
  | { readonly status: "timed_out" }
  | { readonly status: "unsupported"; readonly error: unknown }
  | { readonly status: "failed"; readonly error: unknown };

/** Progress and cancellation of an attempt. */
export interface LoadHooks {
  readonly onProgress: (progress: LoadProgress) => void;
  readonly signal: AbortSignal;
}

/** Dependencies and callbacks of a `ModelLoader`. */
export interface ModelLoaderOptions {
  readonly create: (hooks: LoadHooks) => Promise<QuestionEmbedder>;
  /** Whether to ask the visitor before the download. */
  readonly mustAsk: () => Promise<boolean>;
  readonly onChange: (state: ModelState) => void;
}

/** Loads the embedder on demand, and lets questions wait for it. */
export class ModelLoader {
  readonly #options: ModelLoaderOptions;
  #mayDownload = false;
  #state: ModelState = { status: "idle" };
  #waiting: Waiting[] = [];
  #attempt: AbortController | undefined;

  constructor(options: ModelLoaderOptions) {
    this.#options = options;
  }

  get state(): ModelState {
    return this.#state;
  }

  /** The embedder, if it is loaded. */
  get embedder(): QuestionEmbedder | undefined {
    return this.#state.status === "ready" ? this.#state.embedder : undefined;
  }

  /** Starts or retries loading, unless the model is loaded, loading, waiting for consent, or unsupported. */
  load(): void {
    if (["loading", "ready", "unsupported", "consent"].includes(this.#state.status)) return;
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#become({ status: "loading", progress: null });
    void this.#load(attempt.signal);
  }

  /** The visitor consents to the download. */
  allow(): void {
    this.#mayDownload = true;
    if (this.#state.status === "consent") this.#state = { status: "idle" };
    this.load();
  }

  /**
   * Resolves when the embedder is loaded. Keeps waiting after a failed attempt, because the visitor can retry; rejects
   * only if the browser is unsupported, or on `unload`.
   */
  ready(): Promise<QuestionEmbedder> {
    if (this.embedder) return Promise.resolve(this.embedder);
    if (this.#state.status === "unsupported") return Promise.reject(this.#state.error);
    this.load();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Disposes of the embedder or stops loading it. */
  unload(): void {
    this.#attempt?.abort();
    this.embedder?.dispose();
    this.#become({ status: "idle" });
    const error = new EmbedderError("aborted", "The AI was unloaded.");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  async #load(signal: AbortSignal): Promise<void> {
    if (!this.#mayDownload && (await this.#options.mustAsk())) {
      if (!signal.aborted) this.#become({ status: "consent" });
      return;
    }
    if (signal.aborted) return;
    const onProgress = (progress: LoadProgress) => {
      if (!signal.aborted) this.#become({ status: "loading", progress });
    };
    try {
      const embedder = await this.#options.create({ onProgress, signal });
      if (signal.aborted) embedder.dispose();
      else this.#succeed(embedder);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  #succeed(embedder: QuestionEmbedder): void {
    this.#become({ status: "ready", embedder });
    for (const { resolve } of this.#waiting.splice(0)) resolve(embedder);
  }

  #fail(error: unknown): void {
    const code = embedderErrorCode(error);
    if (code === "unsupported_browser") {
      this.#become({ status: "unsupported", error });
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    } else if (code === "timeout") {
      this.#become({ status: "timed_out" });
    } else {
      this.#become({ status: "failed", error });
    }
  }

  #become(state: ModelState): void {
    this.#state = state;
    this.#options.onChange(state);
  }
}

interface Waiting {
  readonly resolve: (embedder: QuestionEmbedder) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The code of an `EmbedderError`; `undefined` for other errors. Not by `instanceof`: a page's own embedder may come
 * with another copy of the class.
 */
export function embedderErrorCode(error: unknown): EmbedderErrorCode | undefined {
  if (!(error instanceof Error) || error.name !== "EmbedderError") return undefined;
  return (error as Error & { readonly code?: EmbedderErrorCode }).code;
}

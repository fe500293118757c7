import { type Embedder, EmbedderError, type EmbedderOptions, type LoadProgress } from "@evidence-chat/embedder";

/** What the widget needs of an embedder. */
export type QuestionEmbedder = Pick<Embedder, "fingerprint" | "embed" | "dispose">;

/** Creates an embedder; `createEmbedder` of `@evidence-chat/embedder` is one. */
export type EmbedderFactory = (options: EmbedderOptions) => Promise<QuestionEmbedder>;

/** Where the model is on its way into the browser. */
export type ModelState =
  | { readonly status: "idle" }
  | { readonly status: "loading"; readonly progress: LoadProgress | null }
  | { readonly status: "ready"; readonly embedder: QuestionEmbedder }
  | { readonly status: "timed_out" }
  | { readonly status: "unsupported"; readonly error: EmbedderError }
  | { readonly status: "failed"; readonly error: unknown };

/** How an attempt is watched, and ended. */
export interface LoadHooks {
  readonly onProgress: (progress: LoadProgress) => void;
  readonly signal: AbortSignal;
}

/** Loads the embedder on demand, and lets questions wait for it. */
export class ModelLoader {
  readonly #create: (hooks: LoadHooks) => Promise<QuestionEmbedder>;
  readonly #onChange: (state: ModelState) => void;
  #state: ModelState = { status: "idle" };
  #waiting: Waiting[] = [];
  #attempt: AbortController | undefined;

  constructor(create: (hooks: LoadHooks) => Promise<QuestionEmbedder>, onChange: (state: ModelState) => void) {
    this.#create = create;
    this.#onChange = onChange;
  }

  get state(): ModelState {
    return this.#state;
  }

  /** Starts loading unless the model is there, on its way, or impossible here. Also the way to try again. */
  load(): void {
    if (["loading", "ready", "unsupported"].includes(this.#state.status)) return;
    const attempt = new AbortController();
    this.#attempt = attempt;
    this.#become({ status: "loading", progress: null });
    const onProgress = (progress: LoadProgress) => {
      if (!attempt.signal.aborted) this.#become({ status: "loading", progress });
    };
    this.#create({ onProgress, signal: attempt.signal }).then(
      (embedder) => (attempt.signal.aborted ? embedder.dispose() : this.#succeed(embedder)),
      (error: unknown) => attempt.signal.aborted || this.#fail(error),
    );
  }

  /**
   * The embedder, as soon as there is one. Waits through failed attempts, because the user can start another; rejects
   * only where the browser cannot run it at all, or on `unload`.
   */
  ready(): Promise<QuestionEmbedder> {
    if (this.#state.status === "ready") return Promise.resolve(this.#state.embedder);
    if (this.#state.status === "unsupported") return Promise.reject(this.#state.error);
    this.load();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  /** Frees the embedder, or stops loading it; the next `load` starts afresh. */
  unload(): void {
    this.#attempt?.abort();
    if (this.#state.status === "ready") this.#state.embedder.dispose();
    this.#become({ status: "idle" });
    const error = new EmbedderError("aborted", "The AI was unloaded.");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #succeed(embedder: QuestionEmbedder): void {
    this.#become({ status: "ready", embedder });
    for (const { resolve } of this.#waiting.splice(0)) resolve(embedder);
  }

  #fail(error: unknown): void {
    if (error instanceof EmbedderError && error.code === "unsupported_browser") {
      this.#become({ status: "unsupported", error });
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    } else if (error instanceof EmbedderError && error.code === "timeout") {
      this.#become({ status: "timed_out" });
    } else {
      this.#become({ status: "failed", error });
    }
  }

  #become(state: ModelState): void {
    this.#state = state;
    this.#onChange(state);
  }
}

interface Waiting {
  readonly resolve: (embedder: QuestionEmbedder) => void;
  readonly reject: (error: unknown) => void;
}

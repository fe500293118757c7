import {
  EmbedderError,
  type EmbedderOptions,
  type EmbedderProgress,
  type TextEmbedding,
} from "@evidence-chat/embedder";

/** What the widget needs of an embedder. */
export interface QuestionEmbedder {
  readonly fingerprint: string;
  embed(text: string): Promise<TextEmbedding>;
  dispose(): void;
}

/** Creates an embedder; `createEmbedder` of `@evidence-chat/embedder` is one. */
export type EmbedderFactory = (options: EmbedderOptions) => Promise<QuestionEmbedder>;

/** Where the model is on its way into the browser. */
export type ModelState =
  | { readonly status: "idle" }
  | { readonly status: "loading"; readonly progress: EmbedderProgress | null }
  | { readonly status: "ready"; readonly embedder: QuestionEmbedder }
  | { readonly status: "timed_out" }
  | { readonly status: "unsupported"; readonly error: EmbedderError }
  | { readonly status: "failed"; readonly error: unknown };

type CreateEmbedder = (hooks: Required<Pick<EmbedderOptions, "onProgress" | "signal">>) => Promise<QuestionEmbedder>;

/** A load that makes no progress for this long has failed. */
const STALL_TIMEOUT_MS = 15_000;

/** Loads the embedder on demand, notices when loading stalls, and lets questions wait for it. */
export class ModelLoader {
  readonly #create: CreateEmbedder;
  readonly #onChange: (state: ModelState) => void;
  readonly #stallTimeoutMs: number;
  #state: ModelState = { status: "idle" };
  #waiting: Waiting[] = [];
  #attempt: AbortController | undefined;
  #stall: ReturnType<typeof setTimeout> | undefined;

  constructor(
    create: CreateEmbedder,
    onChange: (state: ModelState) => void,
    stallTimeoutMs: number = STALL_TIMEOUT_MS,
  ) {
    this.#create = create;
    this.#onChange = onChange;
    this.#stallTimeoutMs = stallTimeoutMs;
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
    this.#watch(attempt);
    const onProgress = (progress: EmbedderProgress) => {
      if (attempt.signal.aborted) return;
      this.#watch(attempt);
      this.#become({ status: "loading", progress });
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
    this.#stop();
    if (this.#state.status === "ready") this.#state.embedder.dispose();
    this.#become({ status: "idle" });
    const error = new EmbedderError("disposed", "The AI was unloaded.");
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  #succeed(embedder: QuestionEmbedder): void {
    clearTimeout(this.#stall);
    this.#become({ status: "ready", embedder });
    for (const { resolve } of this.#waiting.splice(0)) resolve(embedder);
  }

  #fail(error: unknown): void {
    this.#stop();
    if (error instanceof EmbedderError && error.code === "unsupported_browser") {
      this.#become({ status: "unsupported", error });
      for (const { reject } of this.#waiting.splice(0)) reject(error);
    } else {
      this.#become({ status: "failed", error });
    }
  }

  #watch(attempt: AbortController): void {
    clearTimeout(this.#stall);
    this.#stall = setTimeout(() => {
      attempt.abort();
      this.#become({ status: "timed_out" });
    }, this.#stallTimeoutMs);
  }

  #stop(): void {
    clearTimeout(this.#stall);
    this.#attempt?.abort();
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

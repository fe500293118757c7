import type { Citation, GenerationReport } from "../../client/wire.js";
import { lazyImport } from "../../lazy-import.js";
import type { HostElement } from "../host.js";

/** A language model on this device. */
interface Writer {
  readonly name: string;
  dispose(): Promise<void>;
}

/** Progress of loading a model. */
interface WriterProgress {
  readonly loadedBytes: number;
  readonly totalBytes: number;
  readonly isCached: boolean;
}

/** Progress and cancellation of loading. */
interface WriterHooks {
  readonly onProgress: (progress: WriterProgress) => void;
  readonly signal: AbortSignal;
}

/** The written answer, or why there is none. */
export interface Written {
  readonly answer?: { readonly deltas: readonly string[]; readonly citations: readonly object[] };
  readonly generation: { readonly [name in "model" | "sentences" | "dropped"]: GenerationReport[name] } & {
    readonly fallback?: string;
  };
  readonly error?: Error & { readonly code?: string };
}

/** The module `@evidence-chat/writer`. */
interface WriterModule {
  createWriter(
    options: {
      readonly modelUrl: string;
      readonly model: { readonly byteLength?: number | undefined; readonly sha256?: string | undefined };
    } & WriterHooks,
  ): Promise<Writer>;
  builtInStatus(options: { readonly languages: readonly string[] }): Promise<string>;
  builtInWriter(options: { readonly languages: readonly string[] } & WriterHooks): Promise<Writer | undefined>;
  hasModel(url: string, byteLength?: number): Promise<boolean>;
  modelSize(url: string): Promise<number>;
  writeAnswer(
    // Bivariant, as methods are: the package's own `Writer` has more members.
    writer: never,
    input: { readonly question: string; readonly citations: readonly Citation[]; readonly hedged: boolean },
    options: { readonly signal: AbortSignal },
  ): Promise<Written>;
}

/** Loads the module. */
export type WriterLoader = () => Promise<WriterModule>;

/** The widget's version, which is also that of the writer. Filled in by the build. */
declare const WRITER_VERSION: string;

/** A download that is needed first. */
export type Download = { readonly of: "model"; readonly bytes: number } | { readonly of: "built_in" };

/** The writer of a page: the model that the element names, or else the browser's own. */
export class WriterSource {
  readonly #element: HostElement;
  readonly #language: () => string;
  #module: Promise<WriterModule> | undefined;
  #writer: Promise<Writer> | undefined;
  #isReady = false;

  /** `language`: BCP 47 tag of the widget's language. */
  constructor(element: HostElement, language: () => string) {
    this.#element = element;
    this.#language = language;
  }

  /** Whether the model is in memory. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether there is a model. Loads the module only if it is needed for the answer. */
  async isAvailable(): Promise<boolean> {
    if (this.#modelUrl !== undefined) return true;
    const { builtInStatus } = await this.module();
    return (await builtInStatus(this.#languages)) !== "unavailable";
  }

  /** The module of the writer; a failure can be retried. */
  module(): Promise<WriterModule> {
    this.#module ??= this.#load().catch((error: unknown) => {
      this.#module = undefined;
      throw error;
    });
    return this.#module;
  }

  /** The download that the visitor has to allow; `undefined` if there is none. */
  async download(): Promise<Download | undefined> {
    const module = await this.module();
    const url = this.#modelUrl;
    if (url === undefined) {
      return (await module.builtInStatus(this.#languages)) === "available" ? undefined : { of: "built_in" };
    }
    if (await module.hasModel(url, this.#modelBytes)) return undefined;
    return { of: "model", bytes: this.#modelBytes ?? (await module.modelSize(url)) };
  }

  /** The writer, loaded once. */
  writer(hooks: WriterHooks): Promise<Writer> {
    if (this.#writer) return this.#writer;
    const forget = () => {
      if (this.#writer === loading) this.#writer = undefined;
    };
    const loading = this.#create(hooks);
    this.#writer = loading;
    loading.catch(forget);
    // The next call must not wait for one that is being aborted.
    hooks.signal.addEventListener("abort", () => this.#isReady || forget(), { once: true });
    return loading;
  }

  /** Frees the memory; the next text loads the model again. */
  dispose(): void {
    this.#isReady = false;
    const writer = this.#writer;
    this.#writer = undefined;
    void writer?.then((each) => each.dispose()).catch(() => undefined);
  }

  async #create(hooks: WriterHooks): Promise<Writer> {
    const module = await this.module();
    const modelUrl = this.#modelUrl;
    const sha256 = this.#element.getAttribute("writer-model-sha256") ?? undefined;
    const writer =
      modelUrl === undefined
        ? await module.builtInWriter({ ...this.#languages, ...hooks })
        : await module.createWriter({ modelUrl, model: { byteLength: this.#modelBytes, sha256 }, ...hooks });
    if (!writer) throw Object.assign(new Error("The browser has no language model."), { code: "unsupported" });
    this.#isReady = true;
    return writer;
  }

  async #load(): Promise<WriterModule> {
    const { writerLoader } = this.#element;
    if (writerLoader) return writerLoader();
    return importAtRunTime(new URL(this.#element.getAttribute("writer-url") ?? defaultUrl(), document.baseURI).href);
  }

  get #modelUrl(): string | undefined {
    return this.#element.getAttribute("writer-model-url") || undefined;
  }

  get #modelBytes(): number | undefined {
    return Number(this.#element.getAttribute("writer-model-size")) || undefined;
  }

  get #languages(): { readonly languages: readonly string[] } {
    return { languages: [this.#language()] };
  }
}

/** Imports a module that no bundler may resolve. The URL is a parameter, because an inlined expression loses the comments. */
function importAtRunTime(url: string): Promise<WriterModule> {
  return lazyImport(() => import(/* @vite-ignore */ /* webpackIgnore: true */ url) as Promise<WriterModule>)();
}

/** In the folder of this file, or on a CDN that has the packages side by side. */
function defaultUrl(): string {
  const folder = import.meta.url.replace(/[^/]*$/, "");
  const other = folder.replace(
    /\/@evidence-chat\/widget(@[^/]+)?\/dist\/$/,
    (_, version?: string) => `/@evidence-chat/writer${version ? `@${WRITER_VERSION}` : ""}/dist/`,
  );
  return other === folder ? `${folder}writer/index.js` : `${other}index.js`;
}

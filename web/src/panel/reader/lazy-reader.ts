import { isCached } from "@evidence-chat/embedder";
import type { EmbeddedQuestion } from "../../client/embed-question.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Reading } from "../../client/wire.js";
import { lazyImport } from "../../dom/lazy-import.js";
import type { PanelHost } from "../host.js";
import { isLimited } from "../model/consent.js";
import type { ModelLoader, QuestionEmbedder } from "../model/model-loader.js";
import type { PanelReader } from "./panel-reader.js";

const loadPanelReader = lazyImport(() => import("./panel-reader.js"));

/** The reader, whose code and file are loaded while the page is idle. Without them, the search alone decides. */
export class LazyReader {
  readonly #host: PanelHost;
  readonly #client: () => ChatClientOptions;
  readonly #model: ModelLoader;
  #reader: PanelReader | undefined;

  /** `model` has the embedder that the reader is loaded into. */
  constructor(host: PanelHost, client: () => ChatClientOptions, model: ModelLoader) {
    this.#host = host;
    this.#client = client;
    this.#model = model;
  }

  /** Loads the reader unless something speaks against it. `mayDownload`: also if it is not cached. */
  async load(mayDownload: boolean): Promise<void> {
    const { embedder } = this.#model;
    if (!embedder || !("readPassages" in embedder) || this.#isOff || isLimited()) return;
    await idle();
    if (document.hidden || !(mayDownload || (await isCached("reader")))) return;
    const loaded = await loadPanelReader().catch(() => undefined);
    if (loaded) this.#reader ??= new loaded.PanelReader(() => this.#model.unload());
    await this.#reader?.load(embedder);
  }

  /** What the reader says about a question, if it is loaded. Never rejects. */
  async read(
    fields: EmbeddedQuestion["fields"],
    embedder: QuestionEmbedder,
    signal: AbortSignal,
  ): Promise<Reading | undefined> {
    return this.#isOff ? undefined : this.#reader?.read(fields, embedder, this.#client(), signal);
  }

  get #isOff(): boolean {
    return this.#host.element.getAttribute("reader") === "off";
  }
}

/** Resolves when the page has nothing to do. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has only timers.
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => resolve());
    else setTimeout(resolve, 1000);
  });
}

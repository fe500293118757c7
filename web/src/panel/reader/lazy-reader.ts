import { isCached } from "@evidence-chat/embedder";
import type { EmbeddedQuestion } from "../../client/embed-question.js";
import type { ChatClientOptions } from "../../client/request.js";
import type { Reading } from "../../client/wire.js";
import { lazyImport } from "../../lazy-import.js";
import type { PanelHost } from "../host.js";
import { isLimited } from "../model/consent.js";
import type { ModelLoader, QuestionEmbedder } from "../model/model-loader.js";
import type { PanelReader } from "./panel-reader.js";

const loadPanelReader = lazyImport(() => import("./panel-reader.js"));

/** The reader, whose code and file are loaded while the page is idle. Without them, the search alone decides. */
export interface LazyReader {
  /** Loads the reader unless something speaks against it. `mayDownload`: also if it is not cached. */
  load(mayDownload: boolean): Promise<void>;
  /** Reads the passages of a question, if the reader is loaded. Never rejects. */
  read(
    fields: EmbeddedQuestion["fields"],
    embedder: QuestionEmbedder,
    signal: AbortSignal,
  ): Promise<Reading | undefined>;
}

/** `model` has the embedder that the reader is loaded into. */
export function lazyReader(host: PanelHost, client: () => ChatClientOptions, model: ModelLoader): LazyReader {
  let reader: PanelReader | undefined;
  const isOff = () => host.element.getAttribute("reader") === "off";
  return {
    async load(mayDownload) {
      const { embedder } = model;
      if (!embedder || !("readPassages" in embedder) || isOff() || isLimited()) return;
      await idle();
      if (document.hidden || !(mayDownload || (await isCached("reader")))) return;
      const loaded = await loadPanelReader().catch(() => undefined);
      if (loaded) reader ??= new loaded.PanelReader(() => model.unload());
      await reader?.load(embedder);
    },
    async read(fields, embedder, signal) {
      return isOff() ? undefined : reader?.read(fields, embedder, client(), signal);
    },
  };
}

/** Resolves when the page has nothing to do. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    // Safari has only timers.
    if ("requestIdleCallback" in globalThis) requestIdleCallback(() => resolve());
    else setTimeout(resolve, 1000);
  });
}

import { createEmbedder, isSupported } from "@evidence-chat/embedder";
import type { PanelHost } from "../host.js";
import { mustAskBeforeDownload } from "./consent.js";
import { ModelLoader, type ModelState } from "./model-loader.js";
import { defaultModelUrl, defaultReaderUrl } from "./model-url.js";

/** The loader of the model that the page has chosen: with its own factory, from its own address, or the package's. */
export function createModel({ element }: PanelHost, onChange: (state: ModelState) => void): ModelLoader {
  return new ModelLoader({
    create: (hooks) =>
      element.embedderFactory
        ? element.embedderFactory({ modelUrl: element.modelUrl || undefined, ...hooks })
        : createEmbedder(
            element.modelUrl
              ? { modelUrl: element.modelUrl, ...hooks }
              : { modelUrl: defaultModelUrl(), readerUrl: defaultReaderUrl(), ...hooks },
          ),
    mustAsk: async () => isSupported() && mustAskBeforeDownload(),
    onChange,
  });
}

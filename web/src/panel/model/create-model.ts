import { createEmbedder, isSupported } from "@evidence-chat/embedder";
import type { PanelHost } from "../host.js";
import { mustAskBeforeDownload } from "./consent.js";
import { ModelLoader, type ModelState } from "./model-loader.js";
import { defaultModelUrl } from "./model-url.js";

/** The loader of the model that the page has chosen: with its own factory, from its own address, or the package's. */
export function createModel({ element }: PanelHost, onChange: (state: ModelState) => void): ModelLoader {
  return new ModelLoader({
    create: (hooks) =>
      element.embedderFactory
        ? element.embedderFactory({ modelUrl: element.modelUrl || undefined, ...hooks })
        : createEmbedder({ modelUrl: element.modelUrl || defaultModelUrl(), ...hooks }),
    mustAsk: async () => isSupported() && mustAskBeforeDownload(),
    onChange,
  });
}

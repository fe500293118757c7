import { createEmbedder, downloadBytes, isSupported, modelBytes } from "@evidence-chat/embedder";
import type { TextKey } from "../../texts/index.js";
import type { Announcer } from "../chat/announcer.js";
import { problemOf } from "../chat/problem.js";
import type { PanelHost } from "../host.js";
import { mustAskBeforeDownload } from "./consent.js";
import { ModelLoader, type ModelState } from "./model-loader.js";
import { ModelNotice } from "./model-notice.js";

/** The embedder's version that the widget depends on. Filled in by the build. */
declare const EMBEDDER_VERSION: string;

const EXPORTED_MODEL = "@evidence-chat/embedder/model";
const EXPORTED_READER = "@evidence-chat/embedder/reader";

/**
 * The model that the page has chosen: with its own factory, from its own address, or the package's. `notice` and the element's events
 * report its state; `onChange` is called before the events.
 */
export function createModel(
  { element, frame, translator, dispatch }: PanelHost,
  announcer: Announcer,
  onChange: (state: ModelState) => void,
): { readonly model: ModelLoader; readonly notice: HTMLElement } {
  // Each button is removed with its notice, so the focus moves first.
  const focused = (action: () => void) => () => {
    frame.composer.focus();
    action();
  };
  const size = element.modelUrl.endsWith(".safetensors") ? modelBytes() : downloadBytes();
  const notice = new ModelNotice(translator, size, announcer, {
    retry: focused(() => model.load()),
    allow: focused(() => model.allow()),
  });
  const failed = (code: string, text: TextKey, error?: unknown) =>
    dispatch("error", { code, message: translator.format(text), error });
  const model = new ModelLoader({
    create: (hooks) =>
      element.embedderFactory
        ? element.embedderFactory({ modelUrl: element.modelUrl || undefined, ...hooks })
        : createEmbedder(
            element.modelUrl
              ? { modelUrl: element.modelUrl, ...hooks }
              : { modelUrl: defaultModelUrl(), readerUrl: defaultReaderUrl(), ...hooks },
          ),
    mustAsk: async () => isSupported() && mustAskBeforeDownload(),
    onChange: (state) => {
      notice.show(state);
      frame.composer.disabled = state.status === "unsupported";
      onChange(state);
      if (state.status === "ready") dispatch("ready", { fingerprint: state.embedder.fingerprint });
      if (state.status === "timed_out") failed("timeout", "modelTimedOutText");
      if (state.status === "failed" || state.status === "unsupported") {
        const { code, text } = problemOf(state.error);
        failed(code, text, state.error);
      }
    },
  });
  return { model, notice: notice.root };
}

/** Where the model is if the page does not say: the model file, or its folder with `/` at the end. */
function defaultModelUrl(): string {
  // Bundlers detect the file only in this exact form, and emit it. A browser resolves it to a file that does not exist.
  const { href } = new URL("@evidence-chat/embedder/model", import.meta.url);
  if (!href.endsWith(`/${EXPORTED_MODEL}`)) return href;
  const folder = href.slice(0, -EXPORTED_MODEL.length);
  // A CDN has the packages side by side, with versions in their names; a served `node_modules` has them without versions.
  return folder.replace(
    /\/@evidence-chat\/widget(@[^/]+)?\/dist\/$/,
    (_, version?: string) => `/@evidence-chat/embedder${version ? `@${EMBEDDER_VERSION}` : ""}/dist/`,
  );
}

/** Where a bundler has put the reader's file; `undefined`: next to the model. */
function defaultReaderUrl(): string | undefined {
  // As above.
  const { href } = new URL("@evidence-chat/embedder/reader", import.meta.url);
  return href.endsWith(EXPORTED_READER) ? undefined : href;
}

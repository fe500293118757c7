import { downloadBytes, modelBytes } from "@evidence-chat/embedder";

/** The embedder's version that the widget depends on. Filled in by the build. */
declare const EMBEDDER_VERSION: string;

const EXPORTED_MODEL = "@evidence-chat/embedder/model";
const EXPORTED_READER = "@evidence-chat/embedder/reader";

/** What a visitor has to download from this `modelUrl`, which is empty for the default. */
export function modelDownloadBytes(modelUrl: string): number {
  return modelUrl.endsWith(".safetensors") ? modelBytes() : downloadBytes();
}

/** Where the model is if the page does not say: the model file, or its folder with `/` at the end. */
export function defaultModelUrl(): string {
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
export function defaultReaderUrl(): string | undefined {
  // As above.
  const { href } = new URL("@evidence-chat/embedder/reader", import.meta.url);
  return href.endsWith(EXPORTED_READER) ? undefined : href;
}

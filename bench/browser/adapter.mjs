// The npm package of this repository as an adapter. The bench calls it in a Web Worker, so the package runs in the calling
// thread, as Transformers.js does. The bench serves dist/, wasm/ and model/ next to this file.
import { createEmbedder } from "./dist/index.js";

const MODEL = new URL("./model/", import.meta.url);

export default function adapter() {
  let embedder;
  return {
    async load() {
      embedder = await createEmbedder({ mode: "inline" });
    },
    /** One Float32Array(384) for each text. */
    async embed(texts) {
      if (texts.length === 1) return [(await embedder.embed(texts[0])).vector];
      return (await embedder.embedBatch(texts)).map(({ vector }) => vector);
    },
    ids: tokenIds,
  };
}

/** Token ids are not part of the package's API, so they come from a second instance of its WebAssembly module. */
async function tokenIds(texts) {
  const wasm = await import("./wasm/embedder.js");
  await wasm.default({ module_or_path: new URL("./dist/embedder_bg.wasm", import.meta.url) });
  const loader = new wasm.ModelLoader();
  const model = await fetch(new URL(JSON.parse(wasm.requiredFiles()).model.source, MODEL));
  loader.append(new Uint8Array(await model.arrayBuffer()));
  const engine = loader.finish(false);
  return texts.map((text) => Array.from(engine.tokenIds(text)));
}

// A build of the embedder whose parts can be timed, as an adapter. The bench serves it and the model next to this file.
const HERE = new URL("./", import.meta.url);

export default function adapter() {
  let engine;
  const embed = (texts) => texts.map((text) => engine.embed(text).vector);
  return {
    async load() {
      const wasm = await import(new URL("stages/embedder.js", HERE).href);
      await wasm.default({ module_or_path: new URL("stages/embedder_bg.wasm", HERE) });
      const model = await fetch(new URL(`model/${wasm.modelFile()}`, HERE));
      const loader = new wasm.ModelLoader();
      loader.append(new Uint8Array(await model.arrayBuffer()));
      engine = loader.finish(false);
    },
    embed,
    kernel: () => engine.kernel(),
    /** Runs one part, or the whole, as often as `repeats`; returns the products of integers of a repeat. */
    stage(name, text, repeats) {
      if (name !== "whole") return engine.repeat(name, text, repeats);
      for (let i = 0; i < repeats; i++) embed([text]);
      return 0;
    },
  };
}

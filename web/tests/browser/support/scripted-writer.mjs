// A module like `@evidence-chat/writer`, in the page. `globalThis.script` controls it:
//   isCached    whether the model is in the cache
//   held        stages ("load", "write") that wait for `script.release(stage)`
//   faults      code of the error of a stage
//   written     what `writeAnswer` gives
// `script.calls` records the calls.
const script = (globalThis.script ??= {});
script.calls = [];
const waiting = new Map();
script.release = (stage) => waiting.get(stage)?.();

export async function hasModel() {
  return script.isCached === true;
}

export async function modelSize(url) {
  script.calls.push(["size", url]);
  return 98_400_000;
}

export async function builtInStatus() {
  return script.builtIn ?? "unavailable";
}

export async function createWriter({ modelUrl, model, onProgress, signal }) {
  script.calls.push(["create", modelUrl, model]);
  onProgress({ loadedBytes: 49_200_000, totalBytes: 98_400_000, isCached: false });
  return load(signal);
}

export async function builtInWriter({ languages, onProgress, signal }) {
  script.calls.push(["built-in", languages]);
  onProgress({ loadedBytes: 0.5, totalBytes: 1, isCached: false });
  return load(signal);
}

export async function writeAnswer(_writer, { question, citations, hedged }, { signal }) {
  script.calls.push(["write", question, citations.length, hedged]);
  await reach("write", signal);
  return structuredClone(script.written);
}

async function load(signal) {
  await reach("load", signal);
  return {
    name: "scripted",
    async dispose() {
      script.calls.push(["dispose"]);
    },
  };
}

/** Fails, waits or goes on, as the script says. */
async function reach(stage, signal) {
  const code = script.faults?.[stage];
  if (code) throw Object.assign(new Error(`The writer says ${code}.`), { code });
  if (!script.held?.includes(stage)) return;
  await new Promise((resolve, reject) => {
    waiting.set(stage, resolve);
    signal.addEventListener("abort", () => {
      script.calls.push(["aborted", stage]);
      reject(signal.reason);
    });
  });
}

import { startWasmFile } from "@evidence-chat/model-loading/start-wasm";
import initWasm, { Verification } from "../wasm/verifier.js";

let started: Promise<typeof Verification> | undefined;

/**
 * Loads the verifier, once per page; a failed start can be retried. It runs on the calling thread, since a sentence takes
 * microseconds.
 */
export function loadVerifier(url: string): Promise<typeof Verification> {
  started ??= startWasmFile(url, "verifierUrl", (response) => initWasm({ module_or_path: response })).then(
    () => Verification,
    (thrown: unknown) => {
      started = undefined;
      throw thrown;
    },
  );
  return started;
}

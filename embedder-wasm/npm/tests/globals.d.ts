// Globals of the fake WebAssembly module, and additions of test pages to the DOM.
export {};

declare global {
  /** Defined by the bundler, see fake/package.mjs. */
  const FAKE: {
    fingerprint: string;
    model: { byteLength: number; sum: number };
    reader: { byteLength: number; sum: number };
  };
  /** Objects of the fake module that are neither consumed nor freed. */
  var fakeWasm: { alive: { loaders: number; embedders: number; readers: number } };
  /** The policy directives that the page has violated. */
  var violations: string[];
  class TrustedScriptURL {}
}

// A fake of the WebAssembly module (wasm/embedder.js) in plain JavaScript, to test faults with a small model. The bundler
// defines `FAKE`: the fingerprint, and length and checksum of model and reader.

import { Gunzip } from "./gunzip.mjs";

class CodedError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Objects that are neither consumed nor freed, so that tests notice leaks. */
const alive = { loaders: 0, embedders: 0, readers: 0 };
globalThis.fakeWasm = { alive };

export const fingerprint = () => FAKE.fingerprint;

export default async function init({ module_or_path: response }) {
  const bytes = new Uint8Array(await (await response).arrayBuffer());
  if (bytes[0] !== 0 || bytes[1] !== 0x61) throw new WebAssembly.CompileError("expected magic word 00 61 73 6d");
}

export class ModelLoader {
  #file = FAKE.model;
  #output = { bytes: new Uint8Array(FAKE.model.byteLength), length: 0 };
  /** @type {Gunzip | undefined} */
  #gunzip;

  constructor() {
    alive.loaders++;
  }

  static forReader() {
    const loader = new ModelLoader();
    loader.#file = FAKE.reader;
    loader.#output.bytes = new Uint8Array(FAKE.reader.byteLength);
    return loader;
  }

  get received() {
    return this.#output.length;
  }

  append(chunk) {
    const { bytes, length } = this.#output;
    if (length + chunk.length > this.#file.byteLength) throw new CodedError("integrity", "more bytes than expected");
    bytes.set(chunk, length);
    this.#output.length += chunk.length;
  }

  appendGzip(chunk) {
    this.#gunzip ??= new Gunzip();
    integrity(() => this.#gunzip.append(chunk, this.#output));
  }

  finishGzip() {
    integrity(() => this.#gunzip.finish(this.#output));
  }

  reset() {
    this.#output.length = 0;
    this.#gunzip = undefined;
  }

  view() {
    return this.#output.bytes.subarray(0, this.#output.length);
  }

  finish(isVerified) {
    this.#check(isVerified);
    return new WasmEmbedder();
  }

  finishReader(embedder, isVerified) {
    if (!(embedder instanceof WasmEmbedder)) throw new TypeError("expected instance of WasmEmbedder");
    this.#check(isVerified);
    return new WasmReader();
  }

  #check(isVerified) {
    this.free();
    // A sum in place of the SHA-256 that WebAssembly computes if the browser cannot.
    const sum = this.view().reduce((total, byte) => (total + byte) % 65521, this.received);
    if (!isVerified && sum !== this.#file.sum) throw new CodedError("integrity", "wrong checksum");
  }

  free() {
    alive.loaders--;
  }
}

function integrity(task) {
  try {
    task();
  } catch (error) {
    throw new CodedError("integrity", /** @type {Error} */ (error).message);
  }
}

/** A text's "vector" starts with its length. Some texts trigger faults. */
class WasmEmbedder {
  #hasTrapped = false;

  constructor() {
    alive.embedders++;
  }

  embedBatch(texts) {
    const vectors = new Float32Array(texts.length * 384);
    for (const [index, text] of texts.entries()) {
      this.#hasTrapped ||= text === "trap";
      if (this.#hasTrapped) throw new WebAssembly.RuntimeError("unreachable executed");
      if (text === "fail") throw new CodedError("bad_input", "this text cannot be embedded");
      const [, milliseconds] = /^busy (\d+)/.exec(text) ?? [];
      for (const end = performance.now() + Number(milliseconds ?? 0); performance.now() < end;);
      vectors[index * 384] = text.length;
    }
    return {
      vectors,
      tokens: Uint32Array.from(texts, (text) => text.length + 2),
      truncated: Uint8Array.from(texts, (text) => (text.length > 254 ? 1 : 0)),
      free() {},
    };
  }

  countTokens(text) {
    this.#hasTrapped ||= text === "trap";
    if (this.#hasTrapped) throw new WebAssembly.RuntimeError("unreachable executed");
    if (text === "fail") throw new CodedError("bad_input", "this text cannot be counted");
    return text.length + 2;
  }

  free() {
    if (this.#hasTrapped) throw new WebAssembly.RuntimeError("null pointer passed to rust");
    alive.embedders--;
  }
}

/**
 * The score of a statement is its length; `…` does not fit. The heading `busy 50` takes 50 ms; the question `trap` is a fault.
 */
class WasmReader {
  constructor() {
    alive.readers++;
  }

  readPassages(question, headings, statements, counts) {
    const sum = counts.reduce((total, count) => total + count, 0);
    if (headings.length !== counts.length || sum !== statements.length) throw new RangeError("wrong counts");
    const [heading] = headings;
    if (question === "trap") throw new WebAssembly.RuntimeError("unreachable executed");
    const [, milliseconds] = /^busy (\d+)/.exec(heading) ?? [];
    for (const end = performance.now() + Number(milliseconds ?? 0); performance.now() < end;);
    return Float32Array.from(statements, (statement) => (statement === "…" ? NaN : statement.length));
  }

  free() {
    alive.readers--;
  }
}

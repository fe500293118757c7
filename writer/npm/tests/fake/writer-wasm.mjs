// A fake of wasm/writer.js in plain JavaScript: a "model" whose texts the messages script. A file is a model if it starts
// with "GGUF". The last message is JSON: {parts, pieces, trapAt, tokens}.

class CodedError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Objects that are neither consumed nor freed, so that tests notice leaks; and how far the last text came. */
const alive = { loaders: 0, models: 0, sessions: 0 };
const last = { promptParts: 0, tokens: 0 };
globalThis.fakeWriter = { alive, last };

const CONTEXT_LENGTH = 1000;

export default async function init({ module_or_path: response }) {
  const bytes = new Uint8Array(await (await response).arrayBuffer());
  if (bytes[0] !== 0 || bytes[1] !== 0x61) throw new WebAssembly.CompileError("expected magic word 00 61 73 6d");
}

export class Loader {
  #byteLength;
  #received = 0;
  #start = [];

  constructor(byteLength) {
    this.#byteLength = byteLength;
    alive.loaders++;
  }

  push(chunk) {
    if (this.#start.length < 4) this.#start.push(...chunk.subarray(0, 4 - this.#start.length));
    this.#received += chunk.length;
    const start = String.fromCharCode(...this.#start);
    if (start === "TRAP") throw new WebAssembly.RuntimeError("unreachable");
    if (this.#start.length === 4 && start !== "GGUF") throw new CodedError("invalid_model", "not a GGUF file");
  }

  finish() {
    this.free();
    if (this.#received !== this.#byteLength) throw new CodedError("invalid_model", "truncated");
    return new Model();
  }

  free() {
    alive.loaders--;
  }
}

export class Model {
  static loader(byteLength) {
    return new Loader(byteLength);
  }

  constructor() {
    alive.models++;
  }

  contextLength() {
    return CONTEXT_LENGTH;
  }

  countTokens(messages) {
    return script(messages).tokens;
  }

  start(messages, maxTokens) {
    const scripted = script(messages);
    if (scripted.tokens > CONTEXT_LENGTH) {
      throw Object.assign(new CodedError("context_too_long", "too many tokens"), {
        tokens: scripted.tokens,
        limit: CONTEXT_LENGTH,
      });
    }
    return new Session(scripted, maxTokens);
  }

  free() {
    alive.models--;
  }
}

class Session {
  #script;
  #maxTokens;

  constructor(scripted, maxTokens) {
    this.#script = scripted;
    this.#maxTokens = maxTokens;
    Object.assign(last, { promptParts: 0, tokens: 0 });
    alive.sessions++;
  }

  promptTokens() {
    return this.#script.tokens;
  }

  readPrompt() {
    if (last.promptParts === this.#script.trapAt) throw new WebAssembly.RuntimeError("unreachable");
    return ++last.promptParts >= this.#script.parts;
  }

  next() {
    if (last.tokens === this.#script.pieces.length || last.tokens === this.#maxTokens) return undefined;
    return this.#script.pieces[last.tokens++];
  }

  completionTokens() {
    return last.tokens;
  }

  endedBecause() {
    return last.tokens < this.#script.pieces.length ? "length" : "stop";
  }

  free() {
    alive.sessions--;
  }
}

function script(messages) {
  const { content } = JSON.parse(messages).at(-1);
  if (content === "") throw new CodedError("invalid_input", "the last message is empty");
  return { parts: 1, pieces: ["Hello", "."], tokens: content.length, ...(content[0] === "{" && JSON.parse(content)) };
}

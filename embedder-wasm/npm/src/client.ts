import { messageOf } from "./loading/errors.js";
import { Watchdog } from "./loading/watchdog.js";
import type { CallOptions, Embedder, Embedding } from "./embedding.js";
import { asEmbedderError, EmbedderError } from "./errors.js";
import type { Settings } from "./options.js";
import { DIMENSIONS, type OpenPort, type Port, type Reply, type Request, type Vectors } from "./protocol.js";

type LoadSettings = Pick<Settings, "modelUrl" | "wasmUrl" | "cache" | "timeoutMs" | "signal" | "onProgress">;

type EmbedCall = Extract<Request, { type: "embed" }>;
type CountCall = Extract<Request, { type: "count" }>;
type Embedded = Extract<Reply, { type: "embedded" }>;
type Counted = Extract<Reply, { type: "counted" }>;

interface PendingCall {
  readonly resolve: (answer: Embedded | Counted) => void;
  readonly reject: (error: EmbedderError) => void;
}

/** The caller's side of an engine: matches its replies to the calls. */
export class EmbedderClient implements Embedder {
  readonly fingerprint: string;
  readonly #port: Port;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 0;
  #ended: EmbedderError | undefined;

  private constructor(port: Port, fingerprint: string) {
    this.#port = port;
    this.fingerprint = fingerprint;
  }

  /** Opens an engine and lets it load the model; closes it if loading fails. */
  static load(open: OpenPort, settings: LoadSettings): Promise<EmbedderClient> {
    const { modelUrl, wasmUrl, cache, timeoutMs, signal, onProgress } = settings;
    return new Promise((resolve, reject) => {
      let client: EmbedderClient | undefined;
      let port: Port | undefined;

      const settle = () => {
        watchdog.stop();
        signal?.removeEventListener("abort", onAbort);
      };
      const fail = (error: EmbedderError) => {
        settle();
        port?.close();
        reject(error);
      };
      const onAbort = () => fail(new EmbedderError("aborted", "Loading was aborted.", { cause: signal?.reason }));
      const watchdog = new Watchdog(timeoutMs, () => fail(stalled(timeoutMs)));
      const onReply = (reply: Reply) => {
        if (client) return client.#settle(reply);
        watchdog.reset();
        if (reply.type === "progress") onProgress(reply.progress);
        if (reply.type === "load_failed") fail(new EmbedderError(reply.code, reply.message));
        if (reply.type === "ready" && port) {
          settle();
          client = new EmbedderClient(port, reply.fingerprint);
          resolve(client);
        }
      };
      const onDied = (reason: string) => (client ? client.#end(crashed(reason)) : fail(notStarted(reason)));

      signal?.addEventListener("abort", onAbort);
      try {
        port = open({ reply: onReply, died: onDied });
        port.post({ type: "load", modelUrl, wasmUrl, cache });
      } catch (thrown) {
        fail(asEmbedderError(thrown) ?? notStarted(messageOf(thrown)));
      }
    });
  }

  async embed(text: string, options: CallOptions = {}): Promise<Embedding> {
    if (typeof text !== "string") throw notText("text", text);
    const [embedding] = unpack(await this.#embed([text], options));
    return embedding as Embedding;
  }

  async embedBatch(texts: readonly string[], options: CallOptions = {}): Promise<Embedding[]> {
    if (!Array.isArray(texts)) throw new EmbedderError("bad_input", "texts must be an array of strings.");
    for (const [index, text] of texts.entries()) {
      if (typeof text !== "string") throw notText(`texts[${index}]`, text);
    }
    return unpack(await this.#embed(texts, options));
  }

  async countTokens(text: string, options: CallOptions = {}): Promise<number> {
    if (typeof text !== "string") throw notText("text", text);
    const { tokens } = await this.#call<CountCall, Counted>((id) => ({ type: "count", id, text }), options);
    return tokens;
  }

  dispose(): void {
    this.#end(new EmbedderError("aborted", "The embedder was disposed. Create a new one to continue."));
  }

  #embed(texts: readonly string[], options: CallOptions): Promise<Vectors> {
    return this.#call<EmbedCall, Embedded>((id) => ({ type: "embed", id, texts }), options);
  }

  /** Each type of call has its type of reply; the id connects them. */
  #call<Call extends EmbedCall | CountCall, Result extends Embedded | Counted>(
    request: (id: number) => Call,
    { signal }: CallOptions,
  ): Promise<Result> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const onAbort = () => {
        if (this.#pending.has(id)) this.#port.post({ type: "cancel", id });
        this.#pending.delete(id);
        reject(new EmbedderError("aborted", "The call was aborted.", { cause: signal?.reason }));
      };
      if (signal?.aborted) return onAbort();
      const settled =
        <T>(settle: (outcome: T) => void) =>
        (outcome: T) => {
          signal?.removeEventListener("abort", onAbort);
          settle(outcome);
        };
      signal?.addEventListener("abort", onAbort);
      this.#pending.set(id, { resolve: settled((answer) => resolve(answer as Result)), reject: settled(reject) });
      this.#port.post(request(id));
    });
  }

  #settle(reply: Reply): void {
    if (reply.type === "crashed") return this.#end(crashed(reply.message));
    if (reply.type !== "embedded" && reply.type !== "counted" && reply.type !== "call_failed") return;
    const call = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.type === "call_failed") call?.reject(new EmbedderError("bad_input", reply.message));
    else call?.resolve(reply);
  }

  #end(reason: EmbedderError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#port.close();
    for (const call of this.#pending.values()) call.reject(reason);
    this.#pending.clear();
  }
}

/** Copies each vector: a caller may keep or transfer one without affecting the others. */
function unpack({ vectors, tokens, truncated }: Vectors): Embedding[] {
  return Array.from(tokens, (count, index) => ({
    vector: vectors.slice(index * DIMENSIONS, (index + 1) * DIMENSIONS),
    tokens: count,
    truncated: truncated[index] === 1,
  }));
}

function notText(name: string, value: unknown): EmbedderError {
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
  return new EmbedderError("bad_input", `${name} must be a string, not ${found}.`);
}

function stalled(timeoutMs: number): EmbedderError {
  const message = `Loading made no progress for ${timeoutMs / 1000} seconds. Check the connection and try again.`;
  return new EmbedderError("timeout", message);
}

function crashed(reason: string): EmbedderError {
  const detail = reason ? ` (${reason})` : "";
  return new EmbedderError("crashed", `The embedder stopped working${detail}. Create a new one and try again.`);
}

function notStarted(reason: string): EmbedderError {
  const detail = reason ? ` (${reason})` : "";
  return new EmbedderError(
    "network",
    `The embedder's worker could not be started${detail}. Check that worker.js is served from workerUrl, and that the ` +
      "Content-Security-Policy allows it in worker-src.",
  );
}

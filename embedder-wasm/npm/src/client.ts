import { abortable, type Settle } from "./abortable.js";
import { Watchdog } from "./loading/watchdog.js";
import type { CallOptions, Embedder, Embedding, PassageToRead, ReaderOptions } from "./embedding.js";
import { EmbedderError, messageOf } from "./errors.js";
import { identityOf } from "./file-identity.js";
import type { Settings } from "./options.js";
import { DIMENSIONS, type OpenPort, type Port, type Reply, type Request, type Vectors } from "./protocol.js";
import { ReaderLoad, stalled } from "./reader-load.js";

type LoadSettings = Omit<Settings, "workerUrl" | "mode">;

type EmbedCall = Extract<Request, { type: "embed" }>;
type CountCall = Extract<Request, { type: "count" }>;
type ReadCall = Extract<Request, { type: "read" }>;
type Embedded = Extract<Reply, { type: "embedded" }>;
type Counted = Extract<Reply, { type: "counted" }>;
type PassagesRead = Extract<Reply, { type: "passages_read" }>;

/** The reply to a call. */
type Answer = Embedded | Counted | PassagesRead;

/** The caller's side of an engine: matches its replies to the calls. */
export class EmbedderClient implements Embedder {
  readonly fingerprint: string;
  readonly readerFingerprint = identityOf("reader").fingerprint;
  readonly #port: Port;
  readonly #reader: ReaderLoad;
  readonly #pending = new Map<number, Settle<Answer>>();
  #nextId = 0;
  #ended: EmbedderError | undefined;

  private constructor(port: Port, fingerprint: string, settings: LoadSettings) {
    this.#port = port;
    this.#reader = new ReaderLoad((request) => port.post(request), settings);
    this.fingerprint = fingerprint;
  }

  /** Opens an engine and lets it load the model; closes it if loading fails. */
  static load(open: OpenPort, settings: LoadSettings): Promise<EmbedderClient> {
    const { modelUrl, wasmUrl, cache, timeoutMs, signal, onProgress } = settings;
    return abortable<EmbedderClient>(signal, "Loading", ({ resolve, reject }) => {
      let client: EmbedderClient | undefined;
      let port: Port | undefined;

      const close = () => {
        watchdog.stop();
        port?.close();
      };
      const fail = (error: EmbedderError) => {
        close();
        reject(error);
      };
      const watchdog = new Watchdog(timeoutMs, () => fail(stalled(timeoutMs)));
      const onReply = (reply: Reply) => {
        if (client) return client.#settle(reply);
        watchdog.reset();
        if (reply.type === "progress") onProgress(reply.progress);
        if (reply.type === "load_failed") fail(new EmbedderError(reply.code, reply.message));
        if (reply.type === "ready" && port) {
          watchdog.stop();
          client = new EmbedderClient(port, reply.fingerprint, settings);
          resolve(client);
        }
      };
      const onDied = (reason: string) => (client ? client.#end(crashed(reason)) : fail(notStarted(reason)));

      try {
        port = open({ reply: onReply, died: onDied });
        port.post({ type: "load", modelUrl, wasmUrl, cache });
      } catch (thrown) {
        fail(thrown instanceof EmbedderError ? thrown : notStarted(messageOf(thrown)));
      }
      return close;
    });
  }

  async embed(text: string, options: CallOptions = {}): Promise<Embedding> {
    if (typeof text !== "string") throw notText("text", text);
    const [embedding] = unpack(await this.#embed([text], options));
    return embedding as Embedding;
  }

  async embedBatch(texts: readonly string[], options: CallOptions = {}): Promise<Embedding[]> {
    return unpack(await this.#embed(asTexts("texts", texts), options));
  }

  async countTokens(text: string, options: CallOptions = {}): Promise<number> {
    if (typeof text !== "string") throw notText("text", text);
    const { tokens } = await this.#call<CountCall, Counted>((id) => ({ type: "count", id, text }), options);
    return tokens;
  }

  loadReader(options: ReaderOptions = {}): Promise<void> {
    return this.#ended ? Promise.reject(this.#ended) : this.#reader.wait(options);
  }

  async readPassages(
    question: string,
    passages: readonly PassageToRead[],
    options: CallOptions = {},
  ): Promise<(number | null)[][]> {
    if (typeof question !== "string") throw notText("question", question);
    if (!Array.isArray(passages)) throw new EmbedderError("bad_input", "passages must be an array.");
    const checked = passages.map(checkPassage);
    await this.loadReader({ signal: options.signal });
    const read = (id: number): ReadCall => ({ type: "read", id, question, passages: checked });
    return (await this.#call<ReadCall, PassagesRead>(read, options)).scores;
  }

  dispose(): void {
    this.#end(new EmbedderError("aborted", "The embedder was disposed. Create a new one to continue."));
  }

  #embed(texts: readonly string[], options: CallOptions): Promise<Vectors> {
    return this.#call<EmbedCall, Embedded>((id) => ({ type: "embed", id, texts }), options);
  }

  /** Each type of call has its type of reply; the id connects them. */
  #call<Call extends EmbedCall | CountCall | ReadCall, Result extends Answer>(
    request: (id: number) => Call,
    { signal }: CallOptions,
  ): Promise<Result> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#nextId++;
    const answer = abortable<Answer>(signal, "The call", (call) => {
      this.#pending.set(id, call);
      this.#port.post(request(id));
      return () => {
        if (this.#pending.delete(id)) this.#port.post({ type: "cancel", id });
      };
    });
    return answer as Promise<Result>;
  }

  #settle(reply: Reply): void {
    if (reply.type === "crashed") return this.#end(crashed(reply.message));
    this.#reader.handle(reply);
    if (!("id" in reply)) return;
    const call = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.type === "call_failed") call?.reject(new EmbedderError("bad_input", reply.message));
    else call?.resolve(reply);
  }

  #end(reason: EmbedderError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#port.close();
    this.#reader.fail(reason);
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

/** A copy, which can be sent to the worker whatever else the passage has. */
function checkPassage(passage: PassageToRead, index: number): PassageToRead {
  const { heading, statements } = Object(passage) as PassageToRead;
  if (typeof heading !== "string") throw notText(`passages[${index}].heading`, heading);
  return { heading, statements: asTexts(`passages[${index}].statements`, statements) };
}

/** A copy of an array of strings. */
function asTexts(name: string, values: readonly unknown[]): string[] {
  if (!Array.isArray(values)) throw new EmbedderError("bad_input", `${name} must be an array of strings.`);
  return Array.from(values as readonly unknown[], (value, index) => {
    if (typeof value !== "string") throw notText(`${name}[${index}]`, value);
    return value;
  });
}

function notText(name: string, value: unknown): EmbedderError {
  const found = value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
  return new EmbedderError("bad_input", `${name} must be a string, not ${found}.`);
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

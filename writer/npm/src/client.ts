import { Watchdog } from "@evidence-chat/model-loading/watchdog";
import { asWriterError, WriterError } from "./errors.js";
import type { Settings } from "./options.js";
import type { OpenPort, Port, Reply, Request } from "./protocol.js";
import type { ChatMessage, WriteOptions, Writer, WriteResult } from "./writer.js";

const DEFAULT_MAX_TOKENS = 200;

type Call = Extract<Request, { type: "write" | "count" }>;
type Answer = Extract<Reply, { type: "written" | "counted" }>;

interface PendingCall {
  readonly onText: (piece: string) => void;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** The caller's side of an engine: matches its replies to the calls. */
export class WriterClient implements Writer {
  readonly name: string;
  readonly #port: Port;
  readonly #pending = new Map<number, PendingCall>();
  #nextId = 0;
  #ended: WriterError | undefined;

  private constructor(port: Port, name: string) {
    this.#port = port;
    this.name = name;
  }

  /** Opens an engine and lets it load the model; closes it if loading fails. */
  static load(
    open: OpenPort,
    { name, modelUrl, wasmUrl, byteLength, sha256, cache, timeoutMs, signal, onProgress }: Settings,
  ): Promise<WriterClient> {
    const aborted = () => new WriterError("aborted", "Loading was aborted.", { cause: signal?.reason });
    if (signal?.aborted) return Promise.reject(aborted());
    return new Promise((resolve, reject) => {
      let client: WriterClient | undefined;
      let port: Port | undefined;

      const settle = () => {
        watchdog.stop();
        signal?.removeEventListener("abort", onAbort);
      };
      const fail = (error: WriterError) => {
        settle();
        port?.close();
        reject(error);
      };
      const onAbort = () => fail(aborted());
      const watchdog = new Watchdog(timeoutMs, () => fail(stalled(timeoutMs)));
      const onReply = (reply: Reply) => {
        if (client) return client.#settle(reply);
        watchdog.reset();
        if (reply.type === "progress") onProgress(reply.progress);
        if (reply.type === "load_failed") fail(new WriterError(reply.code, reply.message));
        if (reply.type === "ready" && port) {
          settle();
          client = new WriterClient(port, name);
          resolve(client);
        }
      };
      const onDied = (reason: string) => (client ? client.#end(crashed(reason)) : fail(notStarted(reason)));

      signal?.addEventListener("abort", onAbort);
      try {
        port = open({ reply: onReply, died: onDied });
        port.post({ type: "load", modelUrl, wasmUrl, byteLength, sha256, cache });
      } catch (thrown) {
        fail(asWriterError(thrown, "download_failed"));
      }
    });
  }

  async write(messages: readonly ChatMessage[], options: WriteOptions = {}): Promise<WriteResult> {
    const { maxTokens = DEFAULT_MAX_TOKENS, onText = () => undefined, signal } = options;
    if (!(Number.isSafeInteger(maxTokens) && maxTokens > 0)) {
      throw new WriterError("invalid_input", `maxTokens must be a positive whole number, not ${maxTokens}.`);
    }
    const sent = plain(messages);
    const answer = await this.#call((id) => ({ type: "write", id, messages: sent, maxTokens }), { onText, signal });
    if (answer.type !== "written") throw new WriterError("crashed", "The engine sent another reply.");
    const { promptTokens, completionTokens, ending } = answer;
    return { promptTokens, completionTokens, ending };
  }

  async countTokens(messages: readonly ChatMessage[]): Promise<number> {
    const sent = plain(messages);
    const answer = await this.#call((id) => ({ type: "count", id, messages: sent }), {});
    return answer.type === "counted" ? answer.tokens : 0;
  }

  dispose(): Promise<void> {
    this.#end(new WriterError("aborted", "The writer was disposed. Create a new one to continue."));
    return Promise.resolve();
  }

  /** Each type of call has its type of reply; the id connects them. */
  #call(request: (id: number) => Call, { onText, signal }: Pick<WriteOptions, "onText" | "signal">): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const onAbort = () => {
        if (this.#pending.delete(id)) this.#port.post({ type: "cancel", id });
        reject(new WriterError("aborted", "The call was aborted.", { cause: signal?.reason }));
      };
      if (signal?.aborted) return onAbort();
      const settled =
        <T>(settle: (outcome: T) => void) =>
        (outcome: T) => {
          signal?.removeEventListener("abort", onAbort);
          settle(outcome);
        };
      signal?.addEventListener("abort", onAbort);
      this.#pending.set(id, {
        onText: onText ?? (() => undefined),
        resolve: settled(resolve),
        reject: settled(reject),
      });
      this.#port.post(request(id));
    });
  }

  #settle(reply: Reply): void {
    if (reply.type === "crashed") return this.#end(crashed(reply.message));
    if (!("id" in reply)) return;
    const call = this.#pending.get(reply.id);
    if (reply.type === "piece") return call?.onText(reply.text);
    this.#pending.delete(reply.id);
    if (reply.type === "call_failed") call?.reject(new WriterError(reply.code, reply.message));
    else call?.resolve(reply);
  }

  #end(reason: WriterError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#port.close();
    for (const call of this.#pending.values()) call.reject(reason);
    this.#pending.clear();
  }
}

/** Only what the engine reads, checked: other values could not be sent to it. Throws `invalid_input`. */
function plain(messages: readonly ChatMessage[]): ChatMessage[] {
  const isMessage = (value: unknown): value is ChatMessage => {
    const { role, content } = (value ?? {}) as Partial<ChatMessage>;
    return (role === "system" || role === "user" || role === "assistant") && typeof content === "string";
  };
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    throw new WriterError("invalid_input", "messages must be an array of {role, content}.");
  }
  return messages.map(({ role, content }) => ({ role, content }));
}

function stalled(timeoutMs: number): WriterError {
  const message = `Loading made no progress for ${timeoutMs / 1000} seconds. Check the connection and try again.`;
  return new WriterError("timeout", message);
}

function crashed(reason: string): WriterError {
  const detail = reason ? ` (${reason})` : "";
  return new WriterError("crashed", `The writer stopped working${detail}. Create a new one and try again.`);
}

function notStarted(reason: string): WriterError {
  const detail = reason ? ` (${reason})` : "";
  return new WriterError(
    "download_failed",
    `The writer's worker could not be started${detail}. Check that worker.js is served from workerUrl, and that the ` +
      "Content-Security-Policy allows it in worker-src.",
  );
}

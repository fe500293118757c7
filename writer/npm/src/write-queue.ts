import { messageOf } from "@evidence-chat/model-loading/errors";
import { nextTask } from "@evidence-chat/model-loading/next-task";
import type { Model, Session } from "../wasm/writer.js";
import { asWriterError } from "./errors.js";
import type { Reply, Request } from "./protocol.js";

type Call = Extract<Request, { type: "write" | "count" }>;

/**
 * Runs the calls one after the other. A text is written one step at a time, a part of the prompt or a token, and messages
 * are handled between two steps: so a call can be cancelled at any time.
 */
export class WriteQueue {
  readonly #model: Model;
  readonly #reply: (reply: Reply) => void;
  #calls: Call[] = [];
  /** The text of the first call, once it has begun. */
  #session: Session | undefined;
  #isPromptRead = false;
  #isScheduled = false;
  #hasCrashed = false;

  constructor(model: Model, reply: (reply: Reply) => void) {
    this.#model = model;
    this.#reply = reply;
  }

  add(call: Call): void {
    this.#calls.push(call);
    this.#schedule();
  }

  cancel(id: number): void {
    if (this.#calls[0]?.id === id) this.#endSession();
    this.#calls = this.#calls.filter((call) => call.id !== id);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTask(() => {
      this.#isScheduled = false;
      this.#runStep();
      if (this.#calls.length > 0) this.#schedule();
    });
  }

  #runStep(): void {
    const [call] = this.#calls;
    if (!call) return;
    try {
      if (call.type === "count") this.#count(call);
      else this.#write(call);
    } catch (thrown) {
      this.#fail(call.id, thrown);
    }
  }

  #count({ id, messages }: Call): void {
    const tokens = this.#model.countTokens(JSON.stringify(messages));
    this.#calls.shift();
    this.#reply({ type: "counted", id, tokens });
  }

  #write({ id, messages, maxTokens }: Extract<Call, { type: "write" }>): void {
    this.#session ??= this.#model.start(JSON.stringify(messages), maxTokens);
    if (!this.#isPromptRead) {
      this.#isPromptRead = this.#session.readPrompt();
      return;
    }
    const text = this.#session.next();
    if (text === undefined) return this.#finish(id, this.#session);
    if (text !== "") this.#reply({ type: "piece", id, text });
  }

  #finish(id: number, session: Session): void {
    const promptTokens = session.promptTokens();
    const completionTokens = session.completionTokens();
    const ending = session.endedBecause() === "length" ? "length" : "stop";
    this.#endSession();
    this.#calls.shift();
    this.#reply({ type: "written", id, promptTokens, completionTokens, ending });
  }

  #fail(id: number, thrown: unknown): void {
    // After a trap the module's memory cannot be trusted, and nothing in it can be freed.
    if (thrown instanceof WebAssembly.RuntimeError) {
      this.#hasCrashed = true;
      this.#calls = [];
      return this.#reply({ type: "crashed", message: messageOf(thrown) });
    }
    this.#endSession();
    this.#calls.shift();
    const { code, message } = asWriterError(thrown, "invalid_input");
    this.#reply({ type: "call_failed", id, code, message });
  }

  #endSession(): void {
    if (!this.#hasCrashed) this.#session?.free();
    this.#session = undefined;
    this.#isPromptRead = false;
  }
}

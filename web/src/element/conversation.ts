import { type ChatClientOptions, streamChat } from "../client/client.js";
import { SessionTracker } from "../client/session.js";
import type { ChatEvent, ChatRequest } from "../client/wire.js";
import type { QuestionEmbedder } from "./model-loader.js";
import { randomUuid } from "./uuid.js";

/** One question. Its request is made once: a retry must send the same bytes under the same `message_id`. */
export interface Exchange {
  readonly question: string;
  readonly messageId: string;
  request?: ChatRequest;
}

/** The questions of one session, asked one at a time. */
export class Conversation {
  readonly #session = new SessionTracker();
  readonly #embedder: () => Promise<QuestionEmbedder>;
  readonly #client: () => ChatClientOptions;

  constructor(embedder: () => Promise<QuestionEmbedder>, client: () => ChatClientOptions) {
    this.#embedder = embedder;
    this.#client = client;
  }

  get sessionId(): string | undefined {
    return this.#session.id;
  }

  begin(question: string): Exchange {
    return { question, messageId: randomUuid() };
  }

  /** Asks, or asks again; yields the outcome's events. Throws `EmbedderError`, `ChatError`, or the signal's reason. */
  async *run(exchange: Exchange, signal: AbortSignal): AsyncGenerator<ChatEvent, void, undefined> {
    exchange.request ??= await this.#request(exchange);
    signal.throwIfAborted();
    for await (const event of streamChat(exchange.request, this.#client(), signal)) {
      this.#session.observe(event);
      yield event;
    }
  }

  /** The next question starts a new session. */
  reset(): void {
    this.#session.reset();
  }

  async #request({ question, messageId }: Exchange): Promise<ChatRequest> {
    const embedder = await this.#embedder();
    const { vector } = await embedder.embed(question);
    return {
      embedding: Array.from(vector),
      message: question,
      message_id: messageId,
      ...(this.#session.id && { session_id: this.#session.id }),
      model: embedder.fingerprint,
    };
  }
}

import { type EmbeddedQuestion, embedQuestion, randomUuid } from "../../client/embed-question.js";
import { ChatError } from "../../client/errors.js";
import { optional } from "../../client/json.js";
import { aborting, type ChatClientOptions } from "../../client/request.js";
import { SessionTracker } from "../../client/session.js";
import { streamChat } from "../../client/stream-chat.js";
import { wellFormed } from "../../client/text.js";
import type { ChatEvent, ChatRequest, Reading } from "../../client/wire.js";
import type { StageDetail } from "../../element/events.js";
import type { QuestionEmbedder } from "../model/model-loader.js";

/**
 * One question. Its request is built once, because a retry must send the same bytes with the same `message_id`. It is
 * built again only if the session does not exist, so that nothing was stored, or if the conversation has gone on in another session.
 */
export interface Exchange {
  readonly question: string;
  messageId: string;
  request?: ChatRequest;
  /** The session of the conversation when the question ended. */
  session?: string | undefined;
  /** Tokens of the question, once it is embedded. */
  tokens?: number;
}

/** Reads the passages of a question; `undefined` without a reading. Never rejects. */
export type ReadQuestion = (
  fields: EmbeddedQuestion["fields"],
  embedder: QuestionEmbedder,
  signal: AbortSignal,
) => Promise<Reading | undefined>;

const NO_ENDPOINT =
  "<evidence-chat> has no endpoint. Set the attribute to the URL of POST /api/chat, or load the script from the Worker.";

/** Sends the questions of one session. */
export class Conversation {
  readonly #session = new SessionTracker();
  /** The last question of the session that was answered or refused, with those before it that it was searched with. */
  #previous: string | undefined;
  readonly #embedder: () => Promise<QuestionEmbedder>;
  readonly #client: () => ChatClientOptions;
  readonly #asksForQuotes: () => Promise<boolean>;
  readonly #read: ReadQuestion;

  /**
   * `asksForQuotes`: whether the next answer must consist of quotes, even if the site lets a language model write. `read`: what a reader
   * says about a question.
   */
  constructor(
    embedder: () => Promise<QuestionEmbedder>,
    client: () => ChatClientOptions,
    asksForQuotes: () => Promise<boolean> = () => Promise.resolve(false),
    read: ReadQuestion = () => Promise.resolve(undefined),
  ) {
    this.#embedder = embedder;
    this.#client = client;
    this.#asksForQuotes = asksForQuotes;
    this.#read = read;
  }

  get sessionId(): string | undefined {
    return this.#session.id;
  }

  begin(question: string): Exchange {
    return { question: wellFormed(question), messageId: randomUuid() };
  }

  /** Sends a question or a retry and yields its events. Throws `EmbedderError`, `ChatError`, or the signal's reason. */
  async *run(exchange: Exchange, watch: Stopwatch, signal: AbortSignal): AsyncGenerator<ChatEvent, void, undefined> {
    try {
      yield* this.#ask(exchange, watch, signal);
    } catch (error) {
      if (!isSessionGone(error, exchange.request)) throw error;
      const wasUnconfirmed = this.#session.isUnconfirmed;
      const previous = this.#previous;
      const left = this.#leaveSession(exchange, error);
      // The session was never confirmed, so this is not an error for the visitor, who still sees the question before.
      if (!wasUnconfirmed) throw left;
      this.#previous = previous;
      yield* this.#ask(exchange, watch, signal);
    }
  }

  async *#ask(exchange: Exchange, watch: Stopwatch, signal: AbortSignal): AsyncGenerator<ChatEvent, void, undefined> {
    if (exchange.request && exchange.session !== this.#session.id) {
      // With the same id, it would have to be the same bytes.
      exchange.messageId = randomUuid();
      delete exchange.request;
    }
    exchange.request ??= await this.#request(exchange, watch, signal);
    signal.throwIfAborted();
    watch.mark("sent", { requestBytes: new TextEncoder().encode(JSON.stringify(exchange.request)).length });
    const client = { ...this.#client(), onResponse: watch.onResponse };
    if (client.endpoint === "") throw new ChatError("invalid_request", NO_ENDPOINT, { retryable: false });
    try {
      for await (const event of streamChat(exchange.request, client, signal)) {
        this.#session.observe(event);
        if (event.type === "answer_end" || event.type === "refusal")
          this.#previous = event.searched ?? exchange.question;
        yield event;
      }
    } catch (error) {
      this.#session.interrupted();
      throw error;
    } finally {
      // Also after its end: the visitor may have stopped it before the end was shown, and then try again.
      exchange.session = this.#session.id;
    }
  }

  /** The next question starts a new session. */
  reset(): void {
    this.#session.reset();
    this.#previous = undefined;
  }

  /** The next question continues that session. */
  resume(sessionId: string): void {
    this.reset();
    this.#session.resume(sessionId);
  }

  /** The next question follows what was searched for the last one of the history. */
  follow(searched: string): void {
    this.#previous = searched;
  }

  /** Makes a retry start a new session. Gives the error to throw, which allows a retry. */
  #leaveSession(exchange: Exchange, { code, message, status, requestId }: ChatError): ChatError {
    this.reset();
    delete exchange.request;
    return new ChatError(code, message, {
      retryable: true,
      ...optional("status", status),
      ...optional("requestId", requestId),
    });
  }

  async #request(exchange: Exchange, watch: Stopwatch, signal: AbortSignal): Promise<ChatRequest> {
    const { question, messageId } = exchange;
    const embedder = await aborting(this.#embedder(), signal);
    watch.mark("embedding");
    const { fields, tokens } = await embedQuestion(question, this.#previous, embedder, signal);
    exchange.tokens = tokens;
    watch.mark("embedded", { tokens });
    const [asksForQuotes, reading] = await Promise.all([
      aborting(this.#asksForQuotes(), signal),
      this.#read(fields, embedder, signal),
    ]);
    return {
      ...fields,
      message_id: messageId,
      ...(this.#session.id && { session_id: this.#session.id }),
      ...(asksForQuotes && { mode: "extractive" }),
      ...optional("reading", reading),
    };
  }
}

/** Whether the session was deleted, or belongs to another user. */
function isSessionGone(error: unknown, request: ChatRequest | undefined): error is ChatError {
  return error instanceof ChatError && error.code === "not_found" && request?.session_id !== undefined;
}

/** Reports each stage of a question with its time. */
export class Stopwatch {
  readonly #start = performance.now();
  readonly #report: (detail: StageDetail) => void;
  #serverTiming: Readonly<Record<string, number>> | undefined;

  constructor(report: (detail: StageDetail) => void) {
    this.#report = report;
  }

  /** Stores the server's timings. */
  readonly onResponse = ({ serverTiming }: { readonly serverTiming?: Readonly<Record<string, number>> }): void => {
    this.#serverTiming = serverTiming;
  };

  mark(stage: StageDetail["stage"], details: Pick<StageDetail, "tokens" | "requestBytes"> = {}): void {
    const isAnswered = stage === "first_word" || stage === "refused";
    this.#report({
      stage,
      milliseconds: performance.now() - this.#start,
      ...details,
      ...(isAnswered && this.#serverTiming && { serverTiming: this.#serverTiming }),
    });
  }
}

/**
 * Reads ahead of its consumer, so that nothing that has arrived is lost when the source fails while an earlier item is being handled.
 * To end it early, end the source.
 */
export async function* readAhead<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
  const items: T[] = [];
  const reader = { isReading: true, changed: () => {} };
  const read = async () => {
    try {
      for await (const item of source) {
        items.push(item);
        reader.changed();
      }
    } finally {
      reader.isReading = false;
      reader.changed();
    }
  };
  const end = read();
  // It is thrown below, which may be later.
  end.catch(() => {});
  while (reader.isReading || items.length > 0) {
    yield* items.splice(0);
    if (reader.isReading && items.length === 0) await new Promise<void>((resolve) => (reader.changed = resolve));
  }
  await end;
}

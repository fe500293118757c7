import { decodeEvent } from "./decode.js";
import { connectionLost, invalidResponse } from "./errors.js";
import { eventStream } from "./event-stream.js";
import type { ChatClientOptions } from "./options.js";
import { idleTimeout, send } from "./request.js";
import type { ChatEvent, ChatRequest } from "./wire.js";

export type { ChatClientOptions, TokenProvider } from "./options.js";

/**
 * Sends a question and yields the events of its outcome, the last of which is `answer_end` or `refusal`. Everything
 * else that can happen throws a `ChatError`, except an abort, which throws the signal's reason.
 */
export async function* streamChat(
  request: ChatRequest,
  options: ChatClientOptions,
  signal?: AbortSignal,
): AsyncGenerator<ChatEvent, void, undefined> {
  try {
    const question = { url: options.endpoint, method: "POST", accept: "text/event-stream", body: request } as const;
    const response = await send(question, options, signal);
    if (!response.body || !isEventStream(response)) throw invalidResponse(response.status);

    for await (const raw of eventStream(response.body, idleTimeout(options))) {
      const event = decodeEvent(raw);
      if (event) yield event;
      if (event?.type === "answer_end" || event?.type === "refusal") return;
    }
    throw connectionLost();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw thrown;
  }
}

function isEventStream(response: Response): boolean {
  return response.headers.get("content-type")?.toLowerCase().startsWith("text/event-stream") ?? false;
}

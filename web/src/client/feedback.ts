import { ChatError } from "./errors.js";
import type { ChatClientOptions } from "./options.js";
import { apiUrl, send, withAbortReason } from "./request.js";
import type { Feedback } from "./wire.js";

/** An answer in the user's history. */
export interface AnswerId {
  readonly sessionId: string;
  /** As in `answer_end` and in the history; not the `message_id` of the question. */
  readonly messageId: string;
}

/**
 * Says whether an answer helped, in place of what the user said about it before. `embedding`, the vector of the question, makes a
 * disliked answer count among the questions that the documents do not answer well.
 */
export async function giveFeedback(
  answer: AnswerId,
  feedback: Feedback & { readonly embedding?: readonly number[] },
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<void> {
  await withAbortReason(signal, async () => {
    const request = { url: urlOf(answer, options), method: "PUT", accept: "application/json", body: feedback } as const;
    await (await send(request, options, signal)).body?.cancel();
  });
}

/** Takes the feedback back; of an answer that is gone, too. */
export async function removeFeedback(
  answer: AnswerId,
  options: ChatClientOptions,
  signal?: AbortSignal,
): Promise<void> {
  await withAbortReason(signal, async () => {
    try {
      const request = { url: urlOf(answer, options), method: "DELETE", accept: "application/json" } as const;
      await (await send(request, options, signal)).body?.cancel();
    } catch (thrown) {
      if (!(thrown instanceof ChatError && thrown.code === "not_found")) throw thrown;
    }
  });
}

function urlOf({ sessionId, messageId }: AnswerId, { endpoint }: ChatClientOptions): string {
  return apiUrl(
    endpoint,
    `sessions/${encodeURIComponent(sessionId)}/messages/${encodeURIComponent(messageId)}/feedback`,
  );
}

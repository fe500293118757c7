import { ChatError } from "./errors.js";
import type { TokenProvider } from "./options.js";
import { within } from "./within.js";

/**
 * The user's token. Throws `unauthorized` if nobody is signed in, or if that cannot be found out within `timeoutMs`; an
 * abort throws that error too, at once.
 */
export async function currentToken(
  tokenProvider: TokenProvider,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<string> {
  let token: string | null;
  try {
    token = await within(timeoutMs, tokenProvider(), signal);
  } catch (thrown) {
    throw new ChatError("unauthorized", UNCONFIRMED, { retryable: true, reason: "unconfirmed" }, { cause: thrown });
  }
  if (!token) throw new ChatError("unauthorized", SIGNED_OUT, { retryable: false, reason: "signed_out" });
  return token;
}

/** The server refused a fresh token. */
export function tokenRefused(): ChatError {
  return new ChatError("unauthorized", EXPIRED, { retryable: false, status: 401, reason: "expired" });
}

const SIGNED_OUT = "Please sign in to ask a question.";
const EXPIRED = "Your sign-in is no longer valid. Please sign out and in again.";
const UNCONFIRMED = "Your sign-in could not be confirmed. Please try again.";

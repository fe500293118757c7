import type { TokenProvider } from "../client/options.js";

/**
 * The page's token provider, with its failures in the console. Only their messages: an error's other properties may
 * contain a token.
 */
export function reportFailures(provider: TokenProvider): TokenProvider {
  return async () => {
    try {
      return await provider();
    } catch (thrown) {
      console.error(
        "<evidence-chat>: tokenProvider failed:",
        thrown instanceof Error ? thrown.message : String(thrown),
      );
      throw thrown;
    }
  };
}

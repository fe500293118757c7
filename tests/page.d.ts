// What test pages have beyond the DOM.
import type {} from "../web/src/define.ts";

declare global {
  interface Window {
    /** Set by a script that ran although it must not. */
    hacked?: unknown;
    /** How many tokens the page's `tokenProvider` has given. */
    tokensGiven: number;
  }
}

// Globals that test pages add to the DOM.
import type {} from "../web/src/define.ts";

declare global {
  interface Window {
    /** Set by a script that must not run. */
    hacked?: unknown;
    /** How many tokens the page's `tokenProvider` has returned. */
    tokensGiven: number;
  }
}

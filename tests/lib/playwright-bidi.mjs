import { firefox } from "./playwright.mjs";

/** Playwright's own class for Firefox over WebDriver BiDi, which has no public interface. The version of playwright-core is pinned. */
export const bidiFirefox = /** @type {any} */ (firefox)._connection.toImpl(firefox)._bidiFirefox;

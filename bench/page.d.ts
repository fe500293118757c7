// What the benches add to `window` in their pages.
export {};

declare global {
  interface Window {
    /** Starts the embedder of bench/browser/page in a worker. */
    start(): void;
    /** Runs a command of that worker. */
    call(command: string, ...args: unknown[]): Promise<unknown>;
    /** The embedder of bench/reader/run.mjs. */
    embedder: import("@evidence-chat/embedder").Embedder;
    /** Milliseconds from a key to results, since bench/widget/instant-results.mjs began watching. */
    resultTimes: number[];
    /** The longest task since bench/widget/first-word.mjs began watching, in milliseconds. */
    longestTask(): number;
    /** Milliseconds from a tap on the launcher until the question box is there, for bench/widget/phone.mjs. */
    opened: Promise<number>;
  }
}

import { adoptStyles } from "../../dom/styles.js";
import type { InstantResults, InstantResultsOptions } from "./instant-results.js";

/** Results while a question is typed. The code is loaded when the visitor types and the model is there. */
export class LazySearch {
  readonly #options: InstantResultsOptions;
  #loading: Promise<InstantResults> | undefined;

  constructor(options: InstantResultsOptions) {
    this.#options = options;
  }

  /** The text of the question box has changed. Without the model or the code there are no results. */
  check(text: string): void {
    const { host, embedder } = this.#options;
    if (!this.#loading && (text === "" || !embedder() || host.element.getAttribute("instant-results") === "off"))
      return;
    this.#loading ??= this.#load();
    this.#loading.then(
      (results) => results.check(host.frame.composer.value),
      () => (this.#loading = undefined),
    );
  }

  async #load(): Promise<InstantResults> {
    const { InstantResults, styles } = await import("./index.js");
    adoptStyles(this.#options.host.shadow, styles);
    return new InstantResults(this.#options);
  }
}

import { lazyImport } from "../../lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import type { InstantResults, InstantResultsOptions } from "./instant-results.js";

const loadResults = lazyImport(() => import("./instant-results.js"));

/** Results while a question is typed. */
interface LazySearch {
  /** To call with each text of the question box. */
  check(text: string): void;
  /** Forgets the results of the user before, and searches again for the text in the box. */
  restart(): void;
}

/** Loads the code when the visitor types and the model is there. Without the model or the code there are no results. */
export function lazySearch(options: InstantResultsOptions): LazySearch {
  const { element, frame, shadow } = options.host;
  let loading: Promise<InstantResults> | undefined;
  const load = async () => {
    const { InstantResults, styles } = await loadResults();
    adoptStyles(shadow, styles);
    return new InstantResults(options);
  };
  return {
    check(text) {
      if (!loading && (!text || !options.embedder() || element.getAttribute("instant-results") === "off")) return;
      (loading ??= load()).then(
        (results) => results.check(frame.composer.value),
        () => (loading = undefined),
      );
    },
    restart() {
      loading?.then(
        (results) => results.restart(frame.composer.value),
        () => undefined,
      );
    },
  };
}

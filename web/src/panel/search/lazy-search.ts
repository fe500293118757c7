import { lazyImport } from "../../dom/lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import { loadParser } from "../citations/passage/passage-of.js";
import type { InstantResults, InstantResultsOptions } from "./instant-results.js";

const loadResults = lazyImport(() => import("./index.js"));

/**
 * Results while a question is typed. Gives a function to call with each text of the question box; it loads the code when the visitor
 * types and the model is there. Without the model or the code there are no results.
 */
export function lazySearch(options: InstantResultsOptions): (text: string) => void {
  const { element, frame, shadow } = options.host;
  let loading: Promise<InstantResults> | undefined;
  const load = async () => {
    // A result shows its passage.
    const [{ InstantResults, styles }] = await Promise.all([loadResults(), loadParser()]);
    adoptStyles(shadow, styles);
    return new InstantResults(options);
  };
  return (text) => {
    if (!loading && (!text || !options.embedder() || element.getAttribute("instant-results") === "off")) return;
    (loading ??= load()).then(
      (results) => results.check(frame.composer.value),
      () => (loading = undefined),
    );
  };
}

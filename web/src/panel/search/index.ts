/** The part of the panel that loads when the visitor types a question. */
import css from "./search.css";

export { InstantResults } from "./instant-results.js";

/** Style sheet of the results, for the panel to adopt. */
export const styles: string = css;

/** The part of the panel that loads with the first answer. */
import css from "./answered.css";

export { countCitationUse } from "./citation-use.js";
export { offerFeedback } from "./feedback.js";
export { showHint } from "./hint.js";

/** Style sheet of feedback and hint, for the panel to adopt. */
export const styles: string = css;

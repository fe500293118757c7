import css from "./citations.css";

export { AnswerView, type CitationActions } from "./answer-view.js";
export { copySelection } from "./copy/selection.js";

/** Style sheet of answers and their sources, for the panel to adopt. */
export const citationStyles: string = css;

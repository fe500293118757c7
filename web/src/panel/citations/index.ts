import answerStyles from "./answer.css";
import cardStyles from "./card.css";
import sourceStyles from "./sources.css";

export { AnswerView, type CitationActions } from "./answer-view.js";
export { copySelection } from "./copy/selection.js";
export { passageSheet } from "./passage/passage-of.js";

/**
 * Style sheet of answers and their sources, for the panel to adopt, without that of passages. Rules of the card override those of
 * sources.
 */
export const citationStyles: string = [answerStyles, sourceStyles, cardStyles].join("\n");

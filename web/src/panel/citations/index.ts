import answerStyles from "./answer.css";
import cardStyles from "./card.css";
import passageStyles from "./passage/passage.css";
import sourceStyles from "./sources.css";

export { AnswerView, type CitationActions } from "./answer-view.js";
export { copySelection } from "./copy/selection.js";

/** Style sheet of answers, their sources and passages, for the panel to adopt. Rules of the card override those of sources. */
export const citationStyles: string = [answerStyles, sourceStyles, passageStyles, cardStyles].join("\n");

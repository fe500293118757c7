/** The part of the panel that loads for the first answer: the parser of Markdown, and the styles of passages. */
import css from "./passage.css";

export { parsePassage } from "./parse.js";

/** Style sheet of passages. */
export const styles: string = css;

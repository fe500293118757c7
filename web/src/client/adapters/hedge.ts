/** Begins the text of a hedged answer, as a paragraph of its own. */
export const HEDGE = "These passages are about this, but may not answer it.\n\n";

/** The part of the panel that loads when the visitor opens the history. */
import historyStyles from "./history.css";

export { HistoryView } from "./history-view.js";

/** Style sheet of the history, for the panel to adopt. */
export const styles: string = historyStyles;

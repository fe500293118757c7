export { type HistoryOptions, HistoryView } from "./history-view.js";

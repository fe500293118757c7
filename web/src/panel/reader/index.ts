/** The part of the panel that loads the reader and lets it read. */
export { PanelReader } from "./panel-reader.js";

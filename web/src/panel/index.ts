/** Everything of the widget that is not needed before the visitor turns to it. */
import { adoptStyles } from "../dom/styles.js";
import { citationStyles } from "./citations/index.js";
import historyStyles from "./history/history.css";
import type { PanelHost } from "./host.js";
import { WidgetPanel } from "./panel.js";
import css from "./panel.css";
import { referenceStyles } from "./references/export-menu.js";

export type { PanelHost } from "./host.js";

/** The widget's life, as the element directs it. */
export type Panel = Pick<
  WidgetPanel,
  "ask" | "clear" | "closed" | "connect" | "disconnect" | "endpointChanged" | "modeChanged" | "loadModel" | "opened"
>;

/** Fills the frame of an element. */
export function createPanel(host: PanelHost): Panel {
  for (const styles of [css, citationStyles, historyStyles, referenceStyles]) adoptStyles(host.shadow, styles);
  return new WidgetPanel(host);
}

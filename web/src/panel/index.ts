/** The part of the widget that loads only when the visitor uses it. */
import css from "./panel.css";
import { adoptStyles } from "../dom/styles.js";
import { yieldToPage } from "../dom/yield-to-page.js";
import { citationStyles } from "./citations/answer-view.js";
import type { PanelHost } from "./host.js";
import { WidgetPanel } from "./panel.js";

export type { PanelHost } from "./host.js";

/** The part of the panel that the element calls. */
export type Panel = Pick<
  WidgetPanel,
  | "answerModeChanged"
  | "ask"
  | "clear"
  | "closed"
  | "connect"
  | "disconnect"
  | "serverChanged"
  | "modeChanged"
  | "loadModel"
  | "opened"
  | "resume"
  | "signInChanged"
>;

/**
 * Creates the panel in the frame of an element. On a slow device, each step is a long task: to run this code for the first time, to
 * read its styles, to apply them, to create the panel, and what the caller does with it.
 */
export async function createPanel(host: PanelHost): Promise<Panel> {
  const { shadow, frame } = host;
  await yieldToPage();
  for (const styles of [css, citationStyles]) adoptStyles(shadow, styles);
  await yieldToPage();
  // Otherwise in the task that next draws what the panel shows.
  void frame.panel.offsetHeight;
  await yieldToPage();
  const panel = new WidgetPanel(host);
  await yieldToPage();
  return panel;
}

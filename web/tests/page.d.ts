// Globals that the pages of the browser tests add to the DOM.
import type { Citation } from "../src/client/wire.ts";
import type { HistoryView } from "../src/panel/history/history-view.ts";

declare global {
  /** axe-core, which a test adds. */
  var axe: typeof import("axe-core");
  /** The events of the widget, see browser/pages/widget/page.mjs. */
  var widgetEvents: { type: string; detail: unknown }[];

  // Set by single tests.
  var announced: string[];
  var copied: { plain: string; markdown: string; isOurs: boolean };
  var escapes: number;
  var shifts: { value: number; nodes: string[] }[];
  var tokens: unknown[];

  interface Window {
    // Of browser/pages/history/entry.ts.
    calls: unknown[];
    state: { token: string; current: string };
    view: HistoryView;
    speak(tag: string): Promise<void>;
    root: HTMLElement;
    isReady: boolean;

    // Set by single tests.
    citations: Citation[];
    keptAlive: boolean;
    revoked: string[];
  }
}

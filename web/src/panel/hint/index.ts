/** The part of the panel that loads with a visitor's first answer: the hint that badges can be opened. */
import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { adoptStyles } from "../../dom/styles.js";
import type { PanelHost } from "../host.js";
import css from "./hint.css";

/** How long the hint stays if the visitor opens no badge. */
const HINT_MS = 10_000;

/** Shows the hint until the visitor opens a source, at most ten seconds. */
export function showHint({ element: chat, shadow, frame, translator }: PanelHost): void {
  adoptStyles(shadow, css);
  // Screen readers announce only what is added to a status that is there already.
  const status = element("div", { role: "status" });
  frame.status.append(status);
  const gone = () => {
    status.remove();
    clearTimeout(timer);
  };
  const timer = setTimeout(gone, HINT_MS);
  chat.addEventListener("citation-open", gone, { once: true });
  const hint = [icon(icons.info), translator.t("badgeHint")];
  requestAnimationFrame(() =>
    status.append(element("div", { class: "hint-badge raised", "data-role": "badge-hint" }, ...hint)),
  );
}

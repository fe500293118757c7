import { element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { PanelHost } from "../host.js";

/** Time that the hint stays if the visitor opens no badge. */
const HINT_MS = 10_000;

/** Shows the hint that badges can be opened until the visitor opens a source, at most ten seconds. */
export function showHint({ element: chat, frame, translator }: PanelHost): void {
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

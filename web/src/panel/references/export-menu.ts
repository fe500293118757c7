import type { Citation } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import { lazyImport } from "../../lazy-import.js";
import { adoptStyles } from "../../dom/styles.js";
import type { PanelHost } from "../host.js";
import type { ExportContent } from "./index.js";

const loadExport = lazyImport(() => import("./index.js"));

/** A button that opens the export of an answer's references. Its code is loaded when it opens for the first time. */
export function exportMenu(
  { shadow, translator }: Pick<PanelHost, "shadow" | "translator">,
  citations: () => readonly Citation[],
): HTMLElement {
  let content: ExportContent | undefined;
  const failure = element("div", { role: "status" });
  const setOpen = (isOpen: boolean) => {
    toggle.setAttribute("aria-expanded", String(isOpen));
    content?.show(isOpen);
  };
  const load = async () => {
    const { ExportContent, styles } = await loadExport();
    adoptStyles(shadow, styles);
    if (content) return;
    content = new ExportContent(translator, citations);
    root.append(content.root);
  };
  const toggle = button(
    { class: "button quiet", "aria-expanded": "false", "data-role": "export" },
    () => {
      if (content) return setOpen(content.root.hidden);
      failure.replaceChildren();
      load().then(
        () => setOpen(true),
        () => failure.replaceChildren(translator.t("exportFailed").asText()),
      );
    },
    icon(icons.quote),
    translator.t("exportReferences"),
  );
  const root = element("div", { class: "references", part: "references" }, toggle, failure);
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !content || content.root.hidden) return;
    // Otherwise the same key closes a floating panel.
    event.preventDefault();
    setOpen(false);
    toggle.focus();
  });
  return root;
}

import type { Citation } from "../../client/wire.js";
import { button, element, icon } from "../../dom/element.js";
import { ICONS } from "../../dom/icons.js";
import type { Translator } from "../../dom/translator.js";

/** Fetches the original of a passage's document and saves it. */
export type Download = (citation: Citation) => Promise<void>;

/** Ways to the document itself: to where it is published, and to its file. That it is gone is said instead. */
export function linksOf(citation: Citation, { t }: Translator, download: Download): HTMLElement | undefined {
  if (citation.available === false)
    return element("p", { class: "source-gone", "data-role": "source-gone" }, t("documentGone"));
  const links = [openLink(citation, t), downloadButton(citation, t, download)].filter((link) => link !== undefined);
  return links.length > 0 ? element("div", { class: "source-links" }, ...links) : undefined;
}

function openLink({ url }: Citation, t: Translator["t"]): HTMLElement | undefined {
  if (url === undefined) return undefined;
  return element(
    "a",
    { class: "source-link", href: url, target: "_blank", rel: "noopener noreferrer", "data-role": "source-link" },
    t("openDocument"),
    icon(ICONS.external),
  );
}

/** Stays where it is, and keeps the focus, while the file is fetched; what went wrong is said beside it. */
function downloadButton(citation: Citation, t: Translator["t"], download: Download): HTMLElement | undefined {
  if (citation.download_url === undefined) return undefined;
  const status = element("span", { class: "source-error", role: "status", "data-role": "download-status" });
  const made = button(
    { class: "source-link", "data-role": "source-download" },
    () => void run(),
    t("downloadDocument"),
    icon(ICONS.download),
  );
  const run = async () => {
    if (made.getAttribute("aria-disabled") === "true") return;
    status.replaceChildren();
    made.setAttribute("aria-disabled", "true");
    made.setAttribute("aria-busy", "true");
    try {
      await download(citation);
    } catch {
      status.replaceChildren(t("downloadFailed").asText());
    } finally {
      made.removeAttribute("aria-disabled");
      made.removeAttribute("aria-busy");
    }
  };
  return element("span", { class: "source-download" }, made, status);
}

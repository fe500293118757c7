import type { Citation, FoundPassage } from "../../client/wire.js";
import { button, type Child, element, icon } from "../../dom/element.js";
import * as icons from "../../dom/icons.js";
import type { Translated, Translator } from "../../dom/translator.js";
import { urlOfWords } from "./cited-place.js";
import { sectionOf, titleOf } from "./documents.js";

/** Fetches the original file of a passage's document and saves it. */
export type Download = (passage: FoundPassage) => Promise<void>;

/**
 * Links to the published document and to its file, or a note that the document is gone.
 * @param cited - The passages of the document whose words are cited: the document opens at them.
 */
export function linksOf(
  passage: FoundPassage & Pick<Citation, "available">,
  { t }: Translator,
  download: Download,
  cited: readonly Citation[] = [],
): HTMLElement | undefined {
  if (passage.available === false)
    return element("p", { class: "source-gone", "data-role": "source-gone" }, t("documentGone"));
  const links = [
    openLink(passage, t("openDocument"), cited),
    downloadButton(passage, t, download, t("downloadDocument")),
  ].filter((link) => link !== undefined);
  return links.length > 0 ? element("div", { class: "source-links row" }, ...links) : undefined;
}

/** The name of a passage, as a link to the document if it has one. */
export function linkedName(passage: FoundPassage, translator: Translator, download: Download): HTMLElement {
  const { t } = translator;
  const section = sectionOf(passage);
  const name = element(
    "span",
    {},
    element("bdi", {}, titleOf(passage, translator)),
    ...(section === undefined ? [] : [" › ", element("bdi", {}, section)]),
    ...(passage.page === undefined ? [] : [" · ", t("page", { count: passage.page })]),
  );
  return openLink(passage, name) ?? downloadButton(passage, t, download, name, t("downloadDocument")) ?? name;
}

function openLink(passage: FoundPassage, label: Child, cited: readonly Citation[] = []): HTMLElement | undefined {
  const url = urlOfWords(passage, cited);
  if (url === undefined) return undefined;
  return element(
    "a",
    { class: "source-link", href: url, target: "_blank", rel: "noopener noreferrer", "data-role": "source-link" },
    label,
    icon(icons.external),
  );
}

/** A button that keeps the focus while the file is fetched. A failure is shown next to it. */
function downloadButton(
  passage: FoundPassage,
  t: Translator["t"],
  download: Download,
  label: Child,
  title?: Translated,
): HTMLElement | undefined {
  if (passage.download_url === undefined) return undefined;
  const status = element("span", { class: "source-error", role: "status", "data-role": "download-status" });
  const made = button(
    { class: "source-link", title, "data-role": "source-download" },
    () => void run(),
    label,
    icon(icons.download),
  );
  const run = async () => {
    if (made.getAttribute("aria-disabled") === "true") return;
    status.replaceChildren();
    made.setAttribute("aria-disabled", "true");
    made.setAttribute("aria-busy", "true");
    try {
      await download(passage);
    } catch {
      status.replaceChildren(t("downloadFailed").asText());
    } finally {
      made.removeAttribute("aria-disabled");
      made.removeAttribute("aria-busy");
    }
  };
  return element("span", { class: "source-download" }, made, status);
}

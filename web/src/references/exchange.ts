import { isoDate, type ReferenceItem, referenceItem, referenceKeys, type ReferenceSource } from "./source.js";

/** Writes references as RIS, which reference managers import. */
export function formatRis(sources: readonly ReferenceSource[]): string {
  return sources.map((source) => risEntry(referenceItem(source))).join("\n\n");
}

function risEntry({ isWebPage, title, url, pages, section, site, accessed }: ReferenceItem): string {
  const fields: [tag: string, value: string | undefined][] = [
    ["TY", isWebPage ? "ELEC" : "GEN"],
    ["TI", title],
    ["SE", section],
    ["PB", site],
    ["SP", pages],
    ["UR", url],
    ["Y2", isoDate(accessed, "/")],
  ];
  const lines = fields.flatMap(([tag, value]) => (value ? `${tag}  - ${value}` : []));
  return [...lines, "ER  - "].join("\n");
}

/** Writes references as CSL-JSON, which citation processors read: https://docs.citationstyles.org/ */
export function formatCslJson(sources: readonly ReferenceSource[]): string {
  const keys = referenceKeys(sources);
  const items = sources.map((source, index) => cslItem(referenceItem(source), keys[index] ?? ""));
  return JSON.stringify(items, null, 2);
}

function cslItem({ isWebPage, title, url, pages, section, site, accessed }: ReferenceItem, id: string): object {
  return {
    id,
    type: isWebPage ? "webpage" : "document",
    title,
    accessed: { "date-parts": [[accessed.getFullYear(), accessed.getMonth() + 1, accessed.getDate()]] },
    ...(url && { URL: url }),
    ...(pages && { page: pages }),
    ...(section && { section }),
    ...(site && { [isWebPage ? "container-title" : "publisher"]: site }),
  };
}

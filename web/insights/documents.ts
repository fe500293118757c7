import { safeUrl } from "../src/client/safe-url.js";
import { type Child, element } from "../src/dom/element.js";
import type { CitedDocument, Health, Scope, Trouble, UncitedDocument } from "./data.js";
import { formatCount, formatDate, formatShare, plural } from "./format.js";
import { onOneLine, shorten } from "./others-text.js";
import { notice, tile } from "./page.js";
import { type Column, table } from "./table.js";

const STATES = { ready: "found", disabled: "hidden", deleted: "deleted" };

/** The document with the address where people read it. */
function name(document: Pick<CitedDocument, "title" | "source" | "url" | "document_id">): Child {
  const { title, source, url, document_id: id } = document;
  const text = shorten(onOneLine(title ?? source ?? `deleted document ${id}`));
  const address = safeUrl(url);
  const shown =
    address === undefined ? text : element("a", { href: address, rel: "noreferrer", target: "_blank" }, text);
  return element("span", { dir: "auto", ...(source !== null && { title: source }) }, shown);
}

function rest(place: HTMLElement, shown: number, total: number): void {
  if (total > shown) place.append(element("p", { class: "detail" }, `${formatCount(total - shown)} more.`));
}

/** The documents that most answers are based on. */
export function showCitedDocuments(place: HTMLElement, documents: readonly CitedDocument[]): void {
  const [first] = documents;
  if (!first) {
    place.append(notice("No answer was based on a document in this period."));
    return;
  }
  const columns: Column<CitedDocument>[] = [
    { title: "Document", cell: name },
    { title: "Answers", cell: ({ times_cited: times }) => formatCount(times), isNumber: true },
    { title: "Last", cell: ({ last_cited: day }) => formatDate(day) },
    { title: "Now", cell: ({ state }) => element("span", { class: "badge", "data-state": state }, STATES[state]) },
  ];
  place.append(table("Documents that are cited most", columns, documents));
  rest(place, documents.length, first.total);
}

/** Documents that may be superfluous, or that visitors ask about in other words. */
export function showUncitedDocuments(place: HTMLElement, documents: readonly UncitedDocument[], { days }: Scope): void {
  const [first] = documents;
  if (!first) {
    place.append(notice("Every document that the search can find was cited."));
    return;
  }
  const columns: Column<UncitedDocument>[] = [
    { title: "Document", cell: name },
    { title: "Last cited", cell: ({ last_cited: day }) => (day === null ? "never" : formatDate(day)) },
    { title: "Added", cell: ({ created_at: day }) => formatDate(day) },
  ];
  place.append(
    element("p", { class: "detail" }, `${plural(first.total, "document")} not cited in the last ${days} days.`),
    table("Documents that are not cited", columns, documents),
  );
  rest(place, documents.length, first.total);
}

/** Whether the citations that visitors saw still lead somewhere. */
export function showHealth(place: HTMLElement, [health]: readonly Health[]): void {
  if (!health || (health.citations === 0 && health.documents === 0)) {
    place.append(notice("There are no documents and no citations."));
    return;
  }
  const intact = health.citations === 0 ? null : health.citations_of_ready / health.citations;
  const facts: [string, string, string][] = [
    [
      "Citations that lead to their document",
      formatShare(intact),
      `${formatCount(health.citations_of_ready)} of ${formatCount(health.citations)}; ` +
        `${formatCount(health.citations_of_disabled)} of hidden and ${formatCount(health.citations_of_deleted)} of deleted documents`,
    ],
    [
      "Documents that were cited",
      formatShare(health.documents === 0 ? null : health.cited_documents / health.documents),
      `${formatCount(health.cited_documents)} of ${formatCount(health.documents)} that the search can find`,
    ],
    [
      "Passages that wait for vectors",
      formatCount(health.stale_passages),
      health.stale_passages > 0 ? "they were edited and are not found: run kb reembed" : "none was edited since",
    ],
    [
      "Documents and collections not up to date",
      formatCount(health.outdated),
      health.outdated > 0 ? "an earlier version is served, if there is one" : "all are as new as their source",
    ],
  ];
  place.append(element("dl", { class: "tiles facts" }, ...facts.map((fact) => tile(...fact))));
  if (health.troubles.length === 0) return;
  const columns: Column<Trouble>[] = [
    { title: "Document or collection", cell: ({ source }) => shorten(onOneLine(source)) },
    { title: "Why", cell: ({ reason }) => shorten(onOneLine(reason)) },
    { title: "Since", cell: ({ since }) => (since === null ? "" : formatDate(since)) },
  ];
  place.append(table("Documents and collections not up to date", columns, health.troubles));
  rest(place, health.troubles.length, health.outdated);
}

import { button, element } from "../src/dom/element.js";
import { announce, type Shown } from "./page.js";
import type { Administration, Change } from "./settings/data.js";
import { labelOf, showValue } from "./settings/fields.js";

/** Changes that are read at once. */
const PAGE_SIZE = 50;

const TIME = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const COLUMNS = ["When", "Who", "What", "Before", "After"];

/** Shows the audit trail, newest first, until it is stopped. */
export function showChanges(content: HTMLElement, administration: Administration, userId: string): Shown {
  let isStopped = false;
  let lastId: number | null = null;
  // The roles, because narrow screens show each row as a block, which would end them.
  const rows = element("tbody", { role: "rowgroup" });
  const heading = (title: string) => element("th", { role: "columnheader" }, title);
  const caption = "Changes of settings, assistants and the visibility of documents, newest first";
  const place = element(
    "div",
    { class: "scroll trail", role: "region", "aria-label": caption, tabindex: 0, hidden: true },
    element(
      "table",
      { role: "table" },
      element("caption", { class: "visually-hidden" }, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...COLUMNS.map(heading))),
      rows,
    ),
  );
  const state = element("p", { class: "notice" }, "Loading…");
  const more = button({ hidden: true }, () => void read(), "Show older changes");

  const read = async () => {
    more.ariaDisabled = "true";
    try {
      const found = await administration.changes(PAGE_SIZE, lastId);
      if (isStopped) return;
      const first = found.map((change) => rows.appendChild(row(change, userId)))[0];
      const isFirstPage = lastId === null;
      lastId = found.at(-1)?.id ?? lastId;
      place.hidden = rows.childElementCount === 0;
      more.hidden = found.length < PAGE_SIZE;
      state.className = "notice";
      state.textContent = rows.childElementCount === 0 ? "Nothing was changed in the last 400 days." : "";
      announce(`${found.length} ${isFirstPage ? "" : "older "}changes.`);
      // The button that had the focus may be gone.
      if (!isFirstPage && more.hidden) (first?.closest<HTMLElement>(".trail") ?? place).focus();
    } catch (error) {
      if (isStopped) return;
      state.className = "notice error";
      state.textContent = `This could not be read: ${error instanceof Error ? error.message : String(error)}`;
      more.hidden = false;
      announce("The changes could not be read.");
    } finally {
      more.ariaDisabled = null;
    }
  };

  content.replaceChildren(
    element("div", { class: "head" }, element("h1", {}, "Changes")),
    element(
      "p",
      { class: "detail" },
      "Who changed settings, assistants, and which documents can be found and by whom. Entries are kept for 400 days.",
    ),
    place,
    state,
    more,
  );
  void read();
  return { stop: () => (isStopped = true) };
}

function row(change: Change, userId: string): HTMLTableRowElement {
  const when = element("time", {}, TIME.format(new Date(change.changed_at)));
  when.dateTime = change.changed_at;
  const isUpdate = change.operation === "update";
  const isSecret = change.column_name === "alert_url";
  const value = (shown: Change["old_value"]) => (isSecret ? "not recorded" : isUpdate ? showValue(shown) : "");
  const cells = [
    when,
    describeWho(change.changed_by, userId),
    describeWhat(change),
    element("span", { dir: "auto" }, value(change.old_value)),
    element("span", { dir: "auto" }, value(change.new_value)),
  ];
  return element(
    "tr",
    { role: "row" },
    ...cells.map((content, at) => {
      const attributes = { role: at === 0 ? "rowheader" : "cell", "data-title": COLUMNS[at] };
      return element(at === 0 ? "th" : "td", attributes, content);
    }),
  );
}

function describeWho(by: string, userId: string): string {
  const [kind, name = ""] = by.split(/:(.*)/s);
  if (kind === "user") return name === userId ? "you" : `user ${name}`;
  if (kind === "key") return name === "service_role" ? "the secret key" : `the key of ${name}`;
  return `the database (${name})`;
}

function describeWhat({ relation, name, operation, column_name: column }: Change): HTMLElement {
  const what = { assistants: "Assistant", chat_settings: "All assistants", kb_documents: "Document" }[relation];
  const subject = relation === "chat_settings" ? what : `${what} ${name}`;
  const done = operation === "update" ? labelOf(column ?? "") : operation === "insert" ? "added" : "deleted";
  return element("span", { dir: "auto" }, `${subject}: ${done}`);
}

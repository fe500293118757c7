import { button, element } from "../src/dom/element.js";
import { announce, notice, reasonOf, type Shown } from "./page.js";
import type { CallDatabase } from "./data.js";
import type { Change } from "./settings/data.js";
import { labelOf, showValue } from "./settings/fields.js";
import { type Column, table } from "./table.js";

/** Changes that are read at once. */
const PAGE_SIZE = 50;

const TIME = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

/** Shows the audit trail, newest first, until it is stopped. */
export function showChanges(content: HTMLElement, call: CallDatabase, userId: string): Shown {
  let isStopped = false;
  const changes: Change[] = [];
  const columns: readonly Column<Change>[] = [
    { title: "When", cell: describeWhen },
    { title: "Who", cell: ({ changed_by: by }) => describeWho(by, userId) },
    { title: "What", cell: describeWhat },
    { title: "Before", cell: (change) => describeValue(change, change.old_value) },
    { title: "After", cell: (change) => describeValue(change, change.new_value) },
  ];
  const place = element("div", { class: "trail" });
  const state = notice("Loading…");
  const more = button({ hidden: true }, () => void read(), "Show older changes");

  const read = async () => {
    more.ariaDisabled = "true";
    try {
      const isFirstPage = changes.length === 0;
      const before_id = changes.at(-1)?.id ?? null;
      const found = await call<Change[]>("chat_insights_changes", { max_count: PAGE_SIZE, before_id });
      if (isStopped) return;
      changes.push(...found);
      const caption = "Changes of settings, assistants and the visibility of documents, newest first";
      const shown = table(caption, columns, changes);
      place.replaceChildren(...(changes.length > 0 ? [shown] : []));
      more.hidden = found.length < PAGE_SIZE;
      state.className = "notice";
      state.textContent = changes.length === 0 ? "Nothing was changed in the last 400 days." : "";
      announce(`${found.length} ${isFirstPage ? "" : "older "}changes.`);
      // The button that had the focus may be gone.
      if (!isFirstPage && more.hidden) shown.focus();
    } catch (error) {
      if (isStopped) return;
      state.className = "notice error";
      state.textContent = `This could not be read: ${reasonOf(error)}`;
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

function describeWhen({ changed_at: when }: Change): HTMLElement {
  const made = element("time", {}, TIME.format(new Date(when)));
  made.dateTime = when;
  return made;
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

function describeValue({ operation, column_name: column }: Change, value: Change["old_value"]): HTMLElement {
  const isSecret = column === "alert_url";
  const text = isSecret ? "not recorded" : operation === "update" ? showValue(value) : "";
  return element("span", { dir: "auto" }, text);
}

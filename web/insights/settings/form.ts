import { button, element } from "../../src/dom/element.js";
import { ConflictError, RejectedError } from "../data.js";
import { announce, confirm, reasonOf } from "../page.js";
import { table } from "../table.js";
import { type Control, controlOf } from "./controls.js";
import type { Changes, Row, Value } from "./data.js";
import { type Field, type Group, showValue } from "./fields.js";

/** Where a form reads and saves its row. */
export interface Store {
  /** The row as it is now; undefined if it was deleted. */
  readonly read: () => Promise<Row | undefined>;
  /** Saves changes that are based on a version of the row. */
  readonly save: (changes: Changes, base: Row) => Promise<void>;
}

export interface SettingsForm {
  readonly node: HTMLElement;
  /** Whether there are changes that are not saved. */
  readonly isDirty: () => boolean;
}

/** Edits a row. `extras` are shown at the end of a group. */
export function settingsForm(
  groups: readonly Group[],
  row: Row,
  store: Store,
  extras: ReadonlyMap<string, HTMLElement> = new Map(),
): SettingsForm {
  let base = row;
  let isBusy = false;
  const fields = groups.flatMap((group) => group.fields);
  const controls = new Map(fields.map((field) => [field.column, controlOf(field)]));
  const control = (field: Field) => controls.get(field.column) as Control;
  const saved = (field: Field) => base[field.column] ?? null;
  const changed = () => fields.filter((field) => !isSame(control(field).read(), saved(field)));

  const conflict = element("div", {});
  const message = element("p", { class: "error", id: "save-message", role: "alert" });
  const state = element("p", { class: "detail", id: "save-state" });
  const save = element("button", { type: "submit", class: "primary" }, "Save");
  const undo = button({}, () => reset(), "Undo changes");

  const node = element(
    "form",
    { class: "settings" },
    conflict,
    ...groups.map((group) =>
      element(
        "section",
        { class: "card" },
        element("h2", {}, group.title),
        ...group.fields.map((field) => control(field).node),
        extras.get(group.title),
      ),
    ),
    element("div", { class: "save-bar" }, message, state, element("div", { class: "actions" }, undo, save)),
  );
  // The database says what is wrong, in the same words for everybody.
  node.noValidate = true;

  const refresh = () => {
    const count = changed().length;
    save.ariaDisabled = count === 0 || isBusy ? "true" : null;
    undo.ariaDisabled = count === 0 || isBusy ? "true" : null;
    state.textContent = count === 0 ? "No changes." : `${count} unsaved ${count === 1 ? "change" : "changes"}.`;
  };
  const clearProblems = () => {
    message.textContent = "";
    for (const each of controls.values()) each.setProblem(undefined);
  };
  const write = () => {
    for (const field of fields) control(field).show(saved(field));
    clearProblems();
    refresh();
  };
  const reset = () => {
    if (isBusy || changed().length === 0) return;
    conflict.replaceChildren();
    write();
    announce("Your changes are undone.");
  };
  const showProblems = (problems: ReadonlyMap<Field, string>) => {
    for (const [field, problem] of problems) control(field).setProblem(problem);
    const count = problems.size;
    message.textContent = `Not saved: ${count === 1 ? "one setting is" : `${count} settings are`} not allowed.`;
    const [first] = problems.keys();
    if (first) control(first).focus();
  };

  const submit = async () => {
    const edited = changed();
    if (isBusy || edited.length === 0) return;
    clearProblems();
    const invalid = edited.filter((field) => control(field).read() === undefined);
    if (invalid.length > 0) {
      showProblems(new Map(invalid.map((field) => [field, field.rule])));
      return;
    }
    const changes: Changes = Object.fromEntries(edited.map((field) => [field.column, control(field).read() as Value]));
    const warnings = edited.flatMap((field) => field.warning?.(changes[field.column] as Value, saved(field)) ?? []);
    if (warnings.length > 0 && !(await confirm("Save these changes?", warnings, "Save"))) return;
    isBusy = true;
    refresh();
    try {
      await store.save(changes, base);
    } catch (error) {
      isBusy = false;
      refresh();
      if (error instanceof ConflictError) await showConflict();
      else if (error instanceof RejectedError) {
        const rejected = edited.filter((field) => field.column in error.problems);
        if (rejected.length > 0) showProblems(new Map(rejected.map((field) => [field, field.rule])));
        else message.textContent = `Not saved: ${error.message}`;
      } else message.textContent = `Not saved: ${reasonOf(error)}`;
      return;
    }
    const read = await store.read().catch(() => undefined);
    base = read ?? { ...base, ...changes };
    conflict.replaceChildren();
    isBusy = false;
    write();
    state.textContent = "Saved. It takes effect within a minute.";
    if (!read) message.textContent = "Saved, but it could not be read again. Reload the page before the next change.";
    announce("Saved.");
  };

  /** Shows what somebody else has changed, and lets the reader decide. */
  const showConflict = async () => {
    const theirs = await store.read().catch(() => undefined);
    if (theirs === undefined) {
      message.textContent = "Not saved: somebody else has changed or deleted this. Reload the page.";
      return;
    }
    const mine = new Map(changed().map((field) => [field, control(field).read()]));
    const before = base;
    const differing = fields.filter((field) => !isSame(theirs[field.column] ?? null, before[field.column] ?? null));
    const rebase = (keepsMine: boolean) => {
      base = theirs;
      conflict.replaceChildren();
      write();
      if (!keepsMine) {
        announce("The saved settings are shown.");
        node.querySelector("h2")?.focus();
        return;
      }
      for (const [field, value] of mine) if (value !== undefined) control(field).write(value);
      refresh();
      void submit();
    };
    const panel = conflictPanel(
      differing.map((field) => ({
        field,
        before: before[field.column] ?? null,
        theirs: theirs[field.column] ?? null,
        mine: mine.get(field),
      })),
      rebase,
    );
    conflict.replaceChildren(panel);
    panel.focus();
    announce("Not saved: somebody else has changed these settings.");
  };

  node.addEventListener("input", refresh);
  // A checkbox that hides a list.
  node.addEventListener("change", refresh);
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  for (const heading of node.querySelectorAll("h2")) heading.setAttribute("tabindex", "-1");
  write();
  return { node, isDirty: () => changed().length > 0 };
}

function isSame(a: Value | undefined, b: Value | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A setting that somebody else has changed. */
interface Difference {
  readonly field: Field;
  readonly before: Value;
  readonly theirs: Value;
  /** The value that the reader wants to save; undefined if they did not change it. */
  readonly mine: Value | undefined;
}

/** Says what somebody else has changed meanwhile, and asks what to do. */
function conflictPanel(differences: readonly Difference[], decide: (keepsMine: boolean) => void): HTMLElement {
  const title = element("h2", { id: "conflict-title" }, "Somebody else has changed these settings");
  return element(
    "section",
    { class: "card conflict", "aria-labelledby": title.id, tabindex: -1 },
    title,
    element("p", {}, "Your changes are not saved. Since you opened this form:"),
    differences.length > 0
      ? table<Difference>(
          "What somebody else has changed",
          [
            { title: "Setting", cell: ({ field }) => field.label },
            { title: "Before", cell: ({ before }) => text(before) },
            { title: "Now saved", cell: ({ theirs }) => text(theirs) },
            { title: "Yours", cell: ({ mine }) => (mine === undefined ? "not changed" : text(mine)) },
          ],
          differences,
        )
      : element("p", {}, "Somebody saved the same values again."),
    element(
      "p",
      { class: "detail" },
      "With “Save mine”, your values replace the saved ones where you changed them. Other settings stay as they are saved now.",
    ),
    element(
      "div",
      { class: "actions" },
      button({}, () => decide(false), "Discard mine"),
      button({ class: "primary" }, () => decide(true), "Save mine"),
    ),
  );
}

const text = (value: Value) => element("span", { dir: "auto" }, showValue(value));

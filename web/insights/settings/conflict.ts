import { button, element } from "../../src/dom/element.js";
import { table } from "../table.js";
import type { Value } from "./data.js";
import { type Field, showValue } from "./fields.js";

/** A setting that somebody else has changed. */
interface Difference {
  readonly field: Field;
  readonly before: Value;
  readonly theirs: Value;
  /** What the reader wants to save; undefined if they did not change it. */
  readonly mine: Value | undefined;
}

/** Says what somebody else has changed meanwhile, and asks what to do. */
export function conflictPanel(differences: readonly Difference[], decide: (keepsMine: boolean) => void): HTMLElement {
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

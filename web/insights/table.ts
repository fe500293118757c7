import { type Child, element } from "../src/dom/element.js";

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Child;
  /** Whether the cells are numbers, which align at their end. */
  readonly isNumber?: boolean;
}

/** A table whose first column names its rows. It scrolls sideways on narrow screens. */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): HTMLElement {
  const heading = ({ title, isNumber }: Column<Row>) => {
    const cell = element("th", isNumber ? { class: "number" } : {}, title);
    cell.scope = "col";
    return cell;
  };
  const line = (row: Row) => {
    const cells = columns.map(({ cell, isNumber }, index) => {
      const made = element(index === 0 ? "th" : "td", isNumber ? { class: "number" } : {}, cell(row));
      if (index === 0) made.scope = "row";
      return made;
    });
    return element("tr", {}, ...cells);
  };
  return element(
    "div",
    // Reachable by keyboard, because it scrolls.
    { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
    element(
      "table",
      {},
      element("caption", { class: "visually-hidden" }, caption),
      element("thead", {}, element("tr", {}, ...columns.map(heading))),
      element("tbody", {}, ...rows.map(line)),
    ),
  );
}

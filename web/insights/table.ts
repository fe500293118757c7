import { type Child, element } from "../src/dom/element.js";

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => Child;
  /** Whether the cells are numbers, which align at their end. */
  readonly isNumber?: boolean;
}

/**
 * A table whose first column names its rows. It scrolls sideways on narrow screens, or the style sheet shows each row as a block there:
 * that would end the roles, unless they are attributes.
 */
export function table<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): HTMLElement {
  const classOf = ({ isNumber }: Column<Row>) => isNumber && "number";
  const heading = (column: Column<Row>) =>
    element("th", { role: "columnheader", class: classOf(column) }, column.title);
  const line = (row: Row) => {
    const cells = columns.map((column, index) => {
      const [tag, role] = index === 0 ? (["th", "rowheader"] as const) : (["td", "cell"] as const);
      return element(tag, { role, class: classOf(column), "data-title": column.title }, column.cell(row));
    });
    return element("tr", { role: "row" }, ...cells);
  };
  return element(
    "div",
    // Reachable by keyboard, because it scrolls.
    { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
    element(
      "table",
      { role: "table" },
      element("caption", { class: "visually-hidden" }, caption),
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...columns.map(heading))),
      element("tbody", { role: "rowgroup" }, ...rows.map(line)),
    ),
  );
}

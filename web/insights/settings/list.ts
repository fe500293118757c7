import { button, element } from "../../src/dom/element.js";
import { announce } from "../page.js";
import type { Input } from "./controls.js";
import type { ListField } from "./fields.js";

/** Edits a list of texts: one line for each, which can be moved up and removed. */
export function listControl(field: ListField, id: string): Input {
  const { item, maxItems, maxLength, placeholder, whenEmpty } = field;
  const lines = element("ol", { class: "entries" });
  const changed = () => lines.dispatchEvent(new Event("input", { bubbles: true }));
  const inputs = () => [...lines.querySelectorAll("input")];

  const addLine = (text: string): HTMLInputElement => {
    const input = element("input", {
      type: "text",
      dir: "auto",
      maxlength: maxLength,
      placeholder,
      autocomplete: "off",
    });
    input.value = text;
    const line = element(
      "li",
      {},
      input,
      button({ class: "small" }, () => moveUp(line), "Move up"),
      button({ class: "small" }, () => remove(line), "Remove"),
    );
    lines.append(line);
    number();
    return input;
  };
  /** Numbers the names of the controls. */
  const number = () => {
    [...lines.children].forEach((line, at) => {
      const name = `${field.label}: ${item} ${at + 1}`;
      const [input, up, away] = line.children as unknown as [HTMLElement, HTMLButtonElement, HTMLElement];
      input.setAttribute("aria-label", name);
      up.setAttribute("aria-label", `Move up ${name}`);
      up.hidden = at === 0;
      away.setAttribute("aria-label", `Remove ${name}`);
    });
    add.hidden = lines.childElementCount >= maxItems;
  };
  const moveUp = (line: HTMLElement) => {
    line.previousElementSibling?.before(line);
    number();
    changed();
    line.querySelector("input")?.focus();
    announce(`Moved up to ${[...lines.children].indexOf(line) + 1}.`);
  };
  const remove = (line: HTMLElement) => {
    const next = (line.nextElementSibling ?? line.previousElementSibling)?.querySelector("input");
    line.remove();
    number();
    changed();
    (next ?? add).focus();
    announce(`Removed. ${lines.childElementCount} left.`);
  };
  const add = button({ class: "small", id }, () => addLine("").focus(), `Add a ${item}`);
  if (/^[aeiou]/.test(item)) add.textContent = `Add an ${item}`;

  const isNull = typeof whenEmpty === "object" ? element("input", { type: "checkbox", id: `${id}-null` }) : undefined;
  const edit = element("div", {}, lines, add);
  const showEdit = () => {
    edit.hidden = isNull?.checked ?? false;
  };
  isNull?.addEventListener("change", showEdit);

  return {
    nodes: [
      ...(isNull && typeof whenEmpty === "object"
        ? [element("span", { class: "switch" }, isNull, element("label", { for: isNull.id }, whenEmpty.nullLabel))]
        : []),
      edit,
    ],
    main: add,
    read: () => {
      if (isNull?.checked) return null;
      const texts = inputs().map((input) => input.value.trim());
      const entries = texts.filter((text) => text !== "");
      return entries.length === 0 && whenEmpty === "null" ? null : entries;
    },
    write: (value) => {
      lines.replaceChildren();
      number();
      if (Array.isArray(value)) for (const text of value as readonly string[]) addLine(text);
      if (isNull) isNull.checked = value === null;
      showEdit();
    },
  };
}

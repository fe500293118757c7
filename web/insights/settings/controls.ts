import { element } from "../../src/dom/element.js";
import type { Value } from "./data.js";
import type { ChoiceField, Field, ListField, NumberField, TextField } from "./fields.js";

/** Edits one setting. */
export interface Control {
  readonly node: HTMLElement;
  /** The edited value; `undefined` if what was typed is none. */
  read: () => Value | undefined;
  /** Shows a saved value, which also determines what the reader may choose. */
  show: (saved: Value) => void;
  /** Replaces the edited value. */
  write: (value: Value) => void;
  /** Shows what is wrong with the value, or nothing. */
  setProblem: (problem: string | undefined) => void;
  focus: () => void;
}

/** The part of a control that depends on its kind. */
export interface Input {
  readonly nodes: readonly HTMLElement[];
  /** The element that is named by the label and described by the help. */
  readonly main: HTMLElement;
  readonly read: () => Value | undefined;
  readonly write: (value: Value) => void;
  /** Limits what the reader may choose. */
  readonly limit?: (saved: Value) => void;
}

/** Creates the control of a setting. Every edit makes it dispatch `input` events. */
export function controlOf(field: Field): Control {
  const id = `setting-${field.column}`;
  const help = element("p", { class: "detail", id: `${id}-help` }, field.help);
  const problem = element("p", { class: "error", id: `${id}-problem`, hidden: true });
  const { nodes, main, read, write, limit } = inputOf(field, id);
  main.setAttribute("aria-describedby", `${help.id} ${problem.id}`);
  const label = element("label", { for: id }, field.label);
  const node = element(
    "div",
    { class: "setting", "data-column": field.column },
    ...(field.kind === "switch" ? [element("span", { class: "switch" }, ...nodes, label)] : [label, ...nodes]),
    help,
    problem,
  );
  return {
    node,
    read,
    write,
    show: (saved) => {
      limit?.(saved);
      write(saved);
    },
    setProblem: (text) => {
      problem.textContent = text ?? "";
      problem.hidden = text === undefined;
      if (text === undefined) main.removeAttribute("aria-invalid");
      else main.setAttribute("aria-invalid", "true");
    },
    focus: () => main.focus(),
  };
}

function inputOf(field: Field, id: string): Input {
  switch (field.kind) {
    case "text":
      return textInput(field, id);
    case "number":
      return numberInput(field, id);
    case "choice":
      return choiceInput(field, id);
    case "switch":
      return switchInput(id);
    case "list":
      return listInput(field, id);
  }
}

function textInput({ maxLength, lines = 1, placeholder }: TextField, id: string): Input {
  const attributes = { id, dir: "auto", maxlength: maxLength, placeholder, autocomplete: "off" };
  const main =
    lines > 1 ? element("textarea", { ...attributes, rows: lines }) : element("input", { ...attributes, type: "text" });
  return {
    nodes: [main],
    main,
    // Blank texts are not allowed, so they stand for the default as well.
    read: () => (main.value.trim() === "" ? null : main.value),
    write: (value) => {
      main.value = typeof value === "string" ? value : "";
    },
  };
}

function numberInput(field: NumberField, id: string): Input {
  const main = element("input", { id, type: "number", autocomplete: "off", placeholder: field.placeholder });
  main.min = String(field.min);
  main.max = String(field.max);
  main.step = field.isInteger ? "1" : "any";
  main.required = field.placeholder === undefined;
  main.inputMode = field.isInteger ? "numeric" : "decimal";
  return {
    nodes: [main],
    main,
    read: () => {
      if (!main.validity.valid) return undefined;
      return main.value === "" ? null : main.valueAsNumber;
    },
    write: (value) => {
      main.value = typeof value === "number" ? String(value) : "";
    },
    limit: (saved) => {
      if (field.only === "higher") main.min = String(saved ?? field.min);
      if (field.only !== "lower") return;
      main.max = String(saved ?? field.max);
      // Empty would be longer than any number.
      main.required = saved !== null;
    },
  };
}

function choiceInput({ options, only }: ChoiceField, id: string): Input {
  const shown = options.map(([value, label]) => element("option", { value }, label));
  const main = element("select", { id }, ...shown);
  return {
    nodes: [main],
    main,
    read: () => main.value,
    write: (value) => {
      main.value = String(value);
    },
    limit: (saved) => {
      const last = options.findIndex(([value]) => value === saved);
      shown.forEach((option, at) => (option.disabled = only === "earlier" && at > last));
    },
  };
}

function switchInput(id: string): Input {
  const main = element("input", { id, type: "checkbox" });
  return {
    nodes: [main],
    main,
    read: () => main.checked,
    write: (value) => {
      main.checked = value === true;
    },
  };
}

/** A list with one entry a line. */
function listInput({ placeholder, whenEmpty }: ListField, id: string): Input {
  const main = element("textarea", { id, dir: "auto", rows: 3, placeholder, autocomplete: "off" });
  const isNull = element("input", { type: "checkbox", id: `${id}-null` });
  const nullLabel = element("label", { for: isNull.id }, typeof whenEmpty === "object" ? whenEmpty.nullLabel : "");
  const show = () => (main.hidden = isNull.checked);
  isNull.addEventListener("change", show);
  return {
    nodes: [...(typeof whenEmpty === "object" ? [element("span", { class: "switch" }, isNull, nullLabel)] : []), main],
    main,
    read: () => {
      const entries = main.value.split("\n").flatMap((line) => line.trim() || []);
      return isNull.checked || (entries.length === 0 && whenEmpty === "null") ? null : entries;
    },
    write: (value) => {
      main.value = Array.isArray(value) ? value.join("\n") : "";
      isNull.checked = value === null && typeof whenEmpty === "object";
      show();
    },
  };
}

import { safeHref } from "../client/safe-url.js";
import { isTranslated, type Translated } from "./translator.js";

/** `HTMLElement`, or a stand-in where there is no DOM: servers may import the class, but not create elements. */
export const BaseElement: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** Every attribute that the widget sets. None of them runs code: no `on…`, no `style`, no `srcdoc`. */
export type AttributeName =
  | `aria-${string}`
  | `data-${string}`
  | "autocomplete"
  | "class"
  | "dir"
  | "disabled"
  | "download"
  | "enterkeyhint"
  | "for"
  | "hidden"
  | "href"
  | "id"
  | "lang"
  | "max"
  | "maxlength"
  | "name"
  | "open"
  | "part"
  | "placeholder"
  | "rel"
  | "role"
  | "rows"
  | "slot"
  | "tabindex"
  | "target"
  | "title"
  | "type"
  | "value";

/** Attributes of a new element. `false` and `undefined` omit an attribute, `true` sets it to the empty string. */
export type Attributes = { readonly [name in AttributeName]?: string | number | boolean | Translated | undefined };

/** A child of an element. A `Translated` follows the widget's language. */
export type Child = Node | string | Translated | undefined;

/**
 * Creates an element. All content of the widget is created here, which makes this its sanitiser: strings become text
 * nodes, so no text of a server or a document is ever parsed as HTML, and `href` is set only if {@link safeHref} allows
 * it.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(made, name, value);
  fill(made, ...children);
  return made;
}

/** Appends children to an element. */
export function fill(parent: Element, ...children: readonly Child[]): void {
  for (const child of children) {
    if (isTranslated(child)) parent.append(child.asText());
    else if (child !== undefined) parent.append(child);
  }
}

/** Sets or removes an attribute. */
export function set(target: Element, name: string, value: Attributes[AttributeName]): void {
  if (isTranslated(value)) value.bindTo(target, name);
  else if (value === undefined || value === false) target.removeAttribute(name);
  else if (name !== "href") target.setAttribute(name, value === true ? "" : String(value));
  else {
    const link = safeHref(value);
    if (link !== undefined) target.setAttribute(name, link);
  }
}

/** Creates a button. */
export function button(
  attributes: Attributes,
  onClick: (event: MouseEvent) => void,
  ...children: readonly Child[]
): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, ...children);
  made.addEventListener("click", onClick);
  return made;
}

/** Calls `run` on Escape, which then closes nothing around the target. During the composition of a character, Escape only ends that. */
export function onEscape(target: HTMLElement, run: () => void): void {
  target.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    event.stopPropagation();
    event.preventDefault();
    run();
  });
}

/** Creates a 24 × 24 line icon. It is decoration, hidden from assistive technology. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

const SVG = "http://www.w3.org/2000/svg";

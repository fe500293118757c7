/** Attributes of a new element; `false` and `undefined` leave one out, `true` sets it empty. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * Makes an element. Strings become text nodes: this is the only way text gets into the widget, so no text of a server
 * or a document is ever parsed as HTML.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string | undefined)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** Makes a button that does something. */
export function button(
  attributes: Attributes,
  onClick: () => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, ...children);
  made.addEventListener("click", onClick);
  return made;
}

/** Makes a 24 × 24 line icon; decoration only, hidden from assistive technology. */
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

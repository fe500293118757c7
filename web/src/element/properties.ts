import type { EvidenceChatElement } from "./evidence-chat.js";

/** The properties of the element that are not attributes, set in this order, each with its value if a component is not given one. */
const DEFAULTS = { texts: {}, tokenProvider: undefined, embedderFactory: undefined, writerLoader: undefined } as const;

/**
 * Properties of the element that are not attributes. They may change, and their identity does not matter. One that is no longer given
 * gets its default.
 */
export type EvidenceChatProperties = Partial<Pick<EvidenceChatElement, keyof typeof DEFAULTS>>;

/** Whether a component sets this on the element as a property. */
export function isElementProperty(name: string): name is keyof EvidenceChatProperties {
  return Object.hasOwn(DEFAULTS, name);
}

/** Sets the properties that differ from those that the component set `before`. Others, which the page may have set itself, stay. */
export function assignProperties(
  element: EvidenceChatElement,
  properties: EvidenceChatProperties,
  before: EvidenceChatProperties = {},
): void {
  for (const name of Object.keys(DEFAULTS).filter(isElementProperty)) {
    const value = properties[name];
    if (value !== before[name]) Object.assign(element, { [name]: value ?? DEFAULTS[name] });
  }
}

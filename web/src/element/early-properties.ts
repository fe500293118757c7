/**
 * A property set before the element was defined shadows the accessor of the same name: deletes it and sets it again. `prototype` has
 * the accessors.
 */
export function adoptEarlyProperties(element: HTMLElement, prototype: HTMLElement): void {
  for (const [name, value] of Object.entries(element) as [string, unknown][]) {
    if (!(name in prototype)) continue;
    Reflect.deleteProperty(element, name);
    Object.assign(element, { [name]: value });
  }
}

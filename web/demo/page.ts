/** The visible part of the page. */
export type PageView = "sign-in" | "chat" | "failed";

export function showView(view: PageView): void {
  const focused = document.activeElement;
  document.body.dataset.view = view;
  // A visitor whose focus was in the hidden part continues at the top of the other one.
  if (focused instanceof HTMLElement && focused.offsetParent === null && focused !== document.body) {
    document.querySelector<HTMLElement>(`[data-show="${view}"] h1`)?.focus();
  }
}

/** The element with that id; throws if it is missing or of another type. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`The page has no #${id}.`);
  return found;
}

/** Which part of the page is shown. */
export type PageView = "sign-in" | "chat" | "failed";

export function showView(view: PageView): void {
  const focused = document.activeElement;
  document.body.dataset.view = view;
  // Who was working in the part that is gone goes on at the top of the other one.
  if (focused instanceof HTMLElement && focused.offsetParent === null && focused !== document.body) {
    document.querySelector<HTMLElement>(`[data-show="${view}"] h1`)?.focus();
  }
}

/** The page's element with that id. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`The page has no #${id}.`);
  return found;
}

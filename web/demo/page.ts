/** Which part of the page is shown. */
export type PageView = "sign-in" | "chat" | "failed";

export function showView(view: PageView): void {
  document.body.dataset.view = view;
}

/** The page's element with that id. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new TypeError(`The page has no #${id}.`);
  return found;
}

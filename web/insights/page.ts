/** A page that is shown. */
export interface Shown {
  readonly stop: () => void;
  /** Asks the reader, if they would lose something. */
  readonly mayLeave?: () => Promise<boolean>;
  /** Whether the reader would lose something. */
  readonly isDirty?: () => boolean;
}

/** The element with this id, which index.html has. */
export function byId<T extends HTMLElement>(id: string, type: abstract new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`index.html has no ${type.name} with the id ${id}`);
  return found;
}

/** Says something to screen readers. */
export function announce(text: string): void {
  byId("announcement", HTMLElement).textContent = text;
}

/** The shortcuts of a widget whose page sets none. */
const DEFAULT_SHORTCUTS = "mod+k /";

/**
 * Whether a key press is one of the shortcuts, which spaces separate: `mod+k` is ⌘ or Ctrl with that key and no other, `/` the key alone.
 * For a listener of the window: not if the page has handled it, and not in a field of the page; in the question box of `host` only with ⌘ or Ctrl.
 */
export function isShortcut(event: KeyboardEvent, shortcuts: string | null, host: EventTarget): boolean {
  const { key, code, metaKey, ctrlKey, altKey, shiftKey } = event;
  const isMod = metaKey || ctrlKey;
  // On some keyboards, the slash needs the shift key.
  if (event.defaultPrevented || altKey || (isMod && shiftKey)) return false;
  const [target] = event.composedPath();
  if (target instanceof HTMLElement && !(isMod && event.target === host))
    if (target.isContentEditable || target.matches("input, textarea, select")) return false;
  // On keyboards of other scripts, the position of the key counts.
  const letter = key > "~" ? code.replace("Key", "") : key;
  const pressed = (isMod ? "mod+" : "") + letter;
  return (shortcuts ?? DEFAULT_SHORTCUTS).toLowerCase().split(" ").includes(pressed.toLowerCase());
}

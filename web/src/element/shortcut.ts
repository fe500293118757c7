/** Whether a key press is a shortcut such as `mod+k`: ⌘ or Ctrl with that key, and no other. */
export function isShortcut(event: KeyboardEvent, shortcut: string | null): boolean {
  const { key, code, metaKey, ctrlKey, altKey, shiftKey } = event;
  if (event.defaultPrevented || altKey || shiftKey || !(metaKey || ctrlKey)) return false;
  // On keyboards of other scripts, the position of the key counts.
  const letter = key > "~" ? code.replace("Key", "") : key;
  return `mod+${letter}`.toLowerCase() === shortcut?.toLowerCase();
}

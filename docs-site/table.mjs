/** Text for a cell of a table: one line, no tags outside code. Markdown in it stays. */
export function cell(/** @type {string | undefined} */ text = "") {
  return inline(text.trim().replace(/\s+/g, " ")).replaceAll("|", "\\|");
}

/** Text in which `<` and `{{` outside code are characters, not tags and templates. */
export function inline(/** @type {string} */ text) {
  return text
    .split(/(`[^`]*`)/)
    .map((piece, index) => (index % 2 ? piece : piece.replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;")))
    .join("");
}

/** A table; nothing if it has no rows. */
export function table(/** @type {readonly string[]} */ heads, /** @type {readonly (readonly string[])[]} */ rows) {
  if (rows.length === 0) return "";
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line), ""].join("\n");
}

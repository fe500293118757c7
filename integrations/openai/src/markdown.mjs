/** The indentation that makes a line code. */
const INDENT = "    ";
/** The markers at the end of a piece. */
const MARKERS = /(?:(?<![ \n])[ \n]*\[\d+\])*$/;
/** An escaped marker, which is a word of the document. */
const ESCAPED_MARKER = /\\\[(\d+)\\\]/g;
/**
 * The signs that CommonMark, its usual extensions or formulas between dollars would read as markup. The first alternative is an
 * escaped marker, which is right already.
 */
const MARKUP = /\\\[\d+\\\]|[\\`*_[\]<>~^|$&@]|(?<=^\s*)[#+\-=]|(?<=^\s*\d+)[.)]|(?<=www)\.|:(?=\/\/)/gi;

/**
 * A piece of an answer as Markdown that shows its characters, for clients that render it: a document must not bring pictures, links or
 * other markup into a chat, and its words must not change. Code is indented; our markers and list items stay.
 * @param {string} delta
 */
export function markdown(delta) {
  const end = delta.search(MARKERS);
  const [text, markers] = [delta.slice(0, end), delta.slice(end)];
  const line = text.replace(/^\n+/, "");
  const lead = text.slice(0, text.length - line.length);
  // Only code has lines of its own, or a marker below it.
  if (!line.includes("\n") && !markers.includes("\n")) {
    const item = line.startsWith("- ") ? "- " : "";
    return lead + item + escape(line.slice(item.length)) + markers;
  }
  const introduction = /^[^\n]*:\n\n/.exec(line)?.[0] ?? "";
  const code = line.slice(introduction.length).replace(ESCAPED_MARKER, "[$1]");
  return lead + escape(introduction) + INDENT + code.replaceAll("\n", `\n${INDENT}`) + markers;
}

function escape(/** @type {string} */ text) {
  return text.replace(MARKUP, (sign) => (sign.length === 1 ? `\\${sign}` : sign));
}

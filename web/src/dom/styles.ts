const sheets = new Map<string, CSSStyleSheet>();

/**
 * Adds a style sheet to a shadow root; all roots share one sheet for the same text. Adopted sheets also pass a strict
 * `style-src`.
 */
export function adoptStyles(root: ShadowRoot, css: string): void {
  let sheet = sheets.get(css);
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    sheets.set(css, sheet);
  }
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

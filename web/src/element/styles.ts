import css from "./styles.css";

let sheet: CSSStyleSheet | undefined;

/** Gives a shadow root the widget's styles; all roots share one sheet, which also passes a strict `style-src`. */
export function adoptStyles(root: ShadowRoot): void {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  root.adoptedStyleSheets = [sheet];
}

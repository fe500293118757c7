/** What is used of Citation.js, which has no types. Inner modules: its entries also bring what reads references. */
declare module "@citation-js/plugin-csl/lib-mjs/bibliography.js" {
  /** Formats CSL items, in the style's order. Throws a `TypeError` for an unknown style. */
  export default function bibliography(
    items: readonly object[],
    options: { style: string; lang: string; format: "text"; asEntryArray: true },
  ): [id: string, text: string][];
}

declare module "@citation-js/plugin-csl/lib-mjs/locales.js" {
  /** By BCP 47 tag with region. */
  export const locales: { list(): string[] };
}

declare module "@citation-js/plugin-bibtex/lib-mjs/output/index.js" {
  /** Formats CSL items, in their order. */
  const outputs: { bibtex(items: readonly object[]): string };
  export default outputs;
}

declare module "@citation-js/plugin-bibtex/lib-mjs/config.js" {
  const config: { format: { asciiOnly: boolean } };
  export default config;
}

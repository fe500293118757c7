// What the references' bundle takes from Citation.js: its output alone, in the styles and languages that are offered.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** As the widget. Citation.js has no Arabic and no Japanese yet. */
const LANGUAGES = new Set(["ar", "de", "en", "es", "fr", "ja"]);

/**
 * MLA and Chicago are not among Citation.js's own styles, and its APA has all of American law in it, which takes a second
 * to set up. This package has all three, but hides them from `import`: they are beside its entry.
 */
const PACKAGE = new URL(".", import.meta.resolve("rehype-citation"));

/** The one that Citation.js formats with. */
const CSL = createRequire(import.meta.resolve("@citation-js/plugin-csl"))("citeproc");

/** Reading references, from files or from the network, and BibLaTeX. */
const LEFT_OUT =
  /@citation-js\/(core\/lib-mjs\/(Cite|plugin-common|plugins\/input)\/index|core\/lib-mjs\/util\/fetchFile(Async)?|plugin-bibtex\/lib-mjs\/mapping\/biblatex)\.js$/;

/** For esbuild: keeps every network call of Citation.js out of the bundle, and puts the offered styles into it. */
export const referencesPlugin = {
  name: "references",
  setup({ onLoad }) {
    onLoad({ filter: LEFT_OUT }, () => ({ contents: "module.exports = {};" }));
    onLoad({ filter: /plugin-csl\/lib-mjs\/styles\.json$/ }, async () => asJson(parsed(await readStyles())));
    onLoad({ filter: /plugin-csl\/lib-mjs\/locales\.json$/ }, async ({ path }) => {
      const locales = Object.entries(JSON.parse(await readFile(path, "utf8")));
      return asJson(parsed(Object.fromEntries(locales.filter(([tag]) => LANGUAGES.has(tag.split("-", 1)[0])))));
    });
  },
};

async function readStyles() {
  const { templates } = await import(new URL("src/citation-js/plugin-csl/styles.js", PACKAGE));
  const { default: mla } = await import(new URL("styles/mla.js", PACKAGE));
  const { default: chicago } = await import(new URL("styles/chicago.js", PACKAGE));
  return { apa: templates.get("apa"), mla, chicago };
}

/** What the processor of styles makes of XML when it runs: takes less room, and no time at the visitor's. */
function parsed(texts) {
  return Object.fromEntries(Object.entries(texts).map(([name, xml]) => [name, CSL.parseXml(xml)]));
}

function asJson(value) {
  return { contents: JSON.stringify(value), loader: "json" };
}

// Configures the analyzer that writes `custom-elements.json`, which editors and catalogues read.

/** The source modules that describe the element, and the files they are published as. */
const PUBLISHED = {
  "src/element/evidence-chat.ts": "dist/index.js",
  "src/define.ts": "dist/evidence-chat.js",
};

/** Drops private members and adds the property of each attribute and the type of each event. */
const describeElement = {
  name: "describe-element",
  packageLinkPhase({ customElementsManifest }) {
    for (const module of customElementsManifest.modules) {
      for (const { declaration } of module.exports) declaration.module = publishedAs(declaration.module);
      module.path = publishedAs(module.path);
      for (const declaration of module.declarations.filter(({ customElement }) => customElement)) describe(declaration);
    }
  },
};

function describe(element) {
  // The source extends a stand-in of it, for servers.
  element.superclass = { name: "HTMLElement" };
  element.members = element.members.filter(({ privacy }) => privacy !== "private");
  const properties = new Set(element.members.filter(({ kind }) => kind === "field").map(({ name }) => name));
  for (const attribute of element.attributes) {
    const property = attribute.name.replace(/-./g, ([, letter]) => letter.toUpperCase());
    if (properties.has(property)) attribute.fieldName = property;
  }
  for (const event of element.events) event.type ??= { text: `EvidenceChatEventMap["${event.name}"]` };
}

/** The analyzer refers to modules with or without a leading `/`, and as `.js`. */
function publishedAs(path) {
  const source = path.replace(/^\//, "").replace(/\.js$/, ".ts");
  return PUBLISHED[source] ?? path;
}

export default {
  globs: Object.keys(PUBLISHED),
  // Otherwise the analyzer adds the path of the manifest to package.json.
  packagejson: false,
  plugins: [describeElement],
};

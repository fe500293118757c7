// What `custom-elements.json` tells editors and catalogues about <evidence-chat>.

/** The source modules that describe the element, and the files they are published as. */
const PUBLISHED = {
  "src/element/evidence-chat.ts": "dist/index.js",
  "src/define.ts": "dist/evidence-chat.js",
};

/** Drops what is private, says which property an attribute belongs to and of what type an event is. */
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
  element.members = element.members.filter(({ privacy }) => privacy !== "private");
  const properties = new Set(element.members.filter(({ kind }) => kind === "field").map(({ name }) => name));
  for (const attribute of element.attributes) {
    const property = attribute.name.replace(/-./g, ([, letter]) => letter.toUpperCase());
    if (properties.has(property)) attribute.fieldName = property;
  }
  for (const event of element.events) event.type ??= { text: `EvidenceChatEventMap["${event.name}"]` };
}

/** Modules refer to each other with or without `/` and as `.js`. */
function publishedAs(path) {
  const source = path.replace(/^\//, "").replace(/\.js$/, ".ts");
  return PUBLISHED[source] ?? path;
}

export default {
  globs: Object.keys(PUBLISHED),
  // The analyzer would write there where it thinks the manifest is.
  packagejson: false,
  plugins: [describeElement],
};

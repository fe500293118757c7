// The pages about the types of an npm package, from its TypeDoc settings.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Application } from "typedoc";

/**
 * The exports of a package as one page of Markdown.
 * @param {string} folder with a `typedoc.json`
 * @param {string} title
 */
export async function typesPage(folder, title) {
  const { entryPoints, intentionallyNotExported = [] } = JSON.parse(
    await readFile(join(folder, "typedoc.json"), "utf8"),
  );
  const out = await mkdtemp(join(tmpdir(), "evidence-chat-types-"));
  try {
    const options = {
      entryPoints: entryPoints.map((path) => join(folder, path)),
      tsconfig: join(folder, "tsconfig.json"),
      plugin: ["typedoc-plugin-markdown"],
      // Without it, TypeDoc empties `docs`.
      out,
      outputs: [{ name: "markdown", path: out }],
      readme: "none",
      excludePrivate: true,
      excludeInternal: true,
      disableSources: true,
      intentionallyNotExported,
      router: "module",
      hidePageHeader: true,
      hideBreadcrumbs: true,
      hidePageTitle: true,
      useCodeBlocks: true,
      expandObjects: false,
      parametersFormat: "table",
      propertiesFormat: "table",
      interfacePropertiesFormat: "table",
      classPropertiesFormat: "table",
      enumMembersFormat: "table",
      typeDeclarationFormat: "table",
      tableColumnSettings: {
        hideDefaults: true,
        hideInherited: true,
        hideModifiers: true,
        hideOverrides: true,
        hideSources: true,
      },
      excludeExternals: true,
      entryFileName: "index.md",
      logLevel: "Warn",
      sanitizeComments: true,
    };
    const app = await Application.bootstrapWithPlugins(/** @type {never} */ (options));
    const project = await app.convert();
    if (!project) throw new Error(`TypeDoc failed for ${folder}`);
    await app.generateOutputs(project);
    const text = await readFile(join(out, "index.md"), "utf8");
    return `# ${title}\n\n${text}`;
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

// A plugin of Vite: writes the licences of the npm packages that are in the bundle to THIRD-PARTY.md, which must accompany it.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** @param {string} [bundle] what the licences belong to */
export function thirdPartyLicences(bundle = "the demo page") {
  return {
    name: "third-party-licences",
    async generateBundle(/** @type {unknown} */ _options, /** @type {Record<string, any>} */ chunks) {
      const modules = Object.values(chunks).flatMap(({ modules = {} }) => Object.keys(modules));
      const folders = new Set(modules.flatMap((id) => PACKAGE.exec(id.replaceAll("\\", "/"))?.[1] ?? []));
      const notices = await Promise.all([...folders].sort().map((folder) => notice(folder, bundle)));
      const source = `# Third-party code in ${bundle}\n\n${notices.join("\n")}`;
      /** @type {any} */ (this).emitFile({ type: "asset", fileName: "THIRD-PARTY.md", source });
    },
  };
}

async function notice(/** @type {string} */ folder, /** @type {string} */ bundle) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no licence text, which ${bundle} needs`);
  return `## ${name} ${version} (${license})\n\n~~~\n${(await readFile(join(folder, file), "utf8")).trim()}\n~~~\n`;
}

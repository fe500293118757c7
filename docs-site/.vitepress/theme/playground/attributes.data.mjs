// The attributes of the built widget: the playground offers no others.
import { readFile } from "node:fs/promises";

const MANIFEST = new URL("../../../../web/dist/custom-elements.json", import.meta.url);

export default {
  /** @returns {Promise<string[]>} */
  async load() {
    const { modules } = JSON.parse(await readFile(MANIFEST, "utf8"));
    const [element] = modules.flatMap(({ declarations }) => declarations).filter(({ tagName }) => tagName);
    return element.attributes.map(({ name }) => name);
  },
};

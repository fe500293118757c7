// The starter projects of generators of documentation, each with the plugin of `integrations/`.
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const OPTIONS = '{ endpoint: "/api/chat", heading: "Ask our handbook", label: "Ask us"';
const SETUP = `export default function setup(chat) {
  chat.tokenProvider = async () => sessionStorage.getItem("access-token");
}
`;

/** Replaces the first occurrence of a text in a file of the starter, and fails if the starter no longer has it. */
async function edit(project, name, from, to) {
  const text = await readFile(join(project.folder, name), "utf8");
  if (!text.includes(from)) throw new Error(`${name} of the starter has no ${JSON.stringify(from)}`);
  await project.write({ [name]: text.replace(from, to) });
}

/** The folder of a plugin in this repository. */
export const plugin = (name) => fileURLToPath(new URL(`../../integrations/${name}`, import.meta.url));

/** Each makes the project in its folder, which is empty, and adds the plugin. */
export const STARTERS = {
  async docusaurus(project) {
    await project.run("npx", [
      "--yes",
      "create-docusaurus@3.10.2",
      "site",
      "classic",
      "--javascript",
      "--skip-install",
    ]);
    await cp(join(project.folder, "site"), project.folder, { recursive: true });
    const config = "docusaurus.config.js";
    await edit(
      project,
      config,
      "themeConfig:",
      `plugins: [["@evidence-chat/docusaurus", ${OPTIONS}, setup: "./src/chat.js" }]],\n  themeConfig:`,
    );
    await edit(project, config, "items: [", 'items: [{ type: "custom-evidenceChat", position: "right" },');
    await project.write({ "src/chat.js": SETUP });
  },
  async vitepress(project) {
    // What `vitepress init`, which asks questions, makes with its defaults.
    const manifest = { private: true, type: "module", scripts: { build: "vitepress build" } };
    await project.write({
      "package.json": JSON.stringify({ ...manifest, dependencies: { vitepress: "1.6.4", vue: "3.5.45" } }),
      "index.md": "---\nlayout: home\nhero: { name: Help }\n---\n",
      "guide.md": "# Guide\n\nRefunds take five days.\n",
      ".vitepress/config.js": `import { evidenceChat } from "@evidence-chat/vitepress";
export default { title: "Help", vite: { plugins: [evidenceChat()] }, themeConfig: { nav: [{ text: "Guide", link: "/guide" }] } };
`,
      ".vitepress/theme/index.js": `import { withEvidenceChat } from "@evidence-chat/vitepress/theme";
import DefaultTheme from "vitepress/theme";
import setup from "../../chat.js";
export default withEvidenceChat(DefaultTheme, ${OPTIONS}, setup });
`,
      "chat.js": SETUP,
    });
  },
  async starlight(project) {
    // The template of `create-astro` is on GitHub, not in the registry: these are its files, without pictures.
    const manifest = { private: true, type: "module", scripts: { build: "astro build" } };
    const dependencies = { "@astrojs/starlight": "0.42.4", astro: "7.3.5", sharp: "^0.35.0" };
    await project.write({
      "package.json": JSON.stringify({ ...manifest, dependencies }),
      "astro.config.mjs": `import starlight from "@astrojs/starlight";
import evidenceChat from "@evidence-chat/starlight";
import { defineConfig } from "astro/config";
export default defineConfig({
  integrations: [starlight({ title: "Help", plugins: [evidenceChat(${OPTIONS}, setup: "./src/chat.js" })] })],
});
`,
      "src/content.config.ts": `import { docsLoader } from "@astrojs/starlight/loaders";
import { docsSchema } from "@astrojs/starlight/schema";
import { defineCollection } from "astro:content";
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };
`,
      "src/content/docs/index.mdx": "---\ntitle: Help\n---\n\nRefunds take five days.\n",
      "src/chat.js": SETUP,
    });
  },
};

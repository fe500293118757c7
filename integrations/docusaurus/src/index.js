// The plugin: gives its options to the theme, and the theme the type of navigation-bar item `custom-evidenceChat`.
import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import { readOptions } from "./options.js";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** A plugin of Docusaurus 3; index.d.ts has its options. */
export default function evidenceChat({ siteDir }, given) {
  const { setup, ...options } = readOptions(given);
  return {
    name: "evidence-chat",
    getThemePath: () => here("./theme"),
    getClientModules: () => [here("./theme/style.css")],
    async contentLoaded({ actions }) {
      actions.setGlobalData(options);
    },
    configureWebpack: () => ({
      resolve: {
        alias: { "@evidence-chat-setup$": setup === undefined ? here("./no-setup.js") : resolve(siteDir, setup) },
      },
    }),
  };
}

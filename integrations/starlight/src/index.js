import { fileURLToPath } from "node:url";
import { attributesOf, keysOf } from "./options.js";

const MODULE = "virtual:evidence-chat";
/** Starlight's own search uses ⌘K. */
const SHORTCUT_NEXT_TO_SEARCH = "mod+j";

/** A plugin of Starlight; index.d.ts has its options. */
export default function evidenceChat({ label = "Ask", setup = undefined, ...options }) {
  return {
    name: "@evidence-chat/starlight",
    hooks: {
      "config:setup"({ config, updateConfig, addIntegration }) {
        const { shortcut = config.pagefind === false ? "mod+k" : SHORTCUT_NEXT_TO_SEARCH } = options;
        const settings = {
          label,
          attributes: attributesOf({ ...options, shortcut }),
          keys: { apple: keysOf(shortcut, "Mac"), other: keysOf(shortcut, "") },
        };
        updateConfig({
          components: { SocialIcons: "@evidence-chat/starlight/SocialIcons.astro", ...config.components },
        });
        addIntegration({
          name: "@evidence-chat/starlight",
          hooks: {
            "astro:config:setup"({ config: { root }, updateConfig: update }) {
              const module = setup === undefined ? "export const setup = () => {};" : exportFrom(new URL(setup, root));
              update({ vite: { plugins: [optionsModule(settings, module)] } });
            },
          },
        });
      },
    },
  };
}

function exportFrom(url) {
  return `export { default as setup } from ${JSON.stringify(fileURLToPath(url))};`;
}

/** Gives the options to the component. */
function optionsModule(settings, setup) {
  return {
    name: "evidence-chat-options",
    // The optimizer of Vite 7 and older would separate the widget from its worker and model.
    config: () => ({ optimizeDeps: { exclude: ["@evidence-chat/widget"] } }),
    resolveId: (id) => ([MODULE, `${MODULE}/setup`].includes(id) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${MODULE}`) return `export default ${JSON.stringify(settings)};`;
      return id === `\0${MODULE}/setup` ? setup : undefined;
    },
  };
}

// What the plugins for Docusaurus, VitePress and Starlight make of their options. `tests/examples/run.mjs` runs them in their frameworks.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { readOptions } from "../../integrations/docusaurus/src/options.js";
import docusaurus from "../../integrations/docusaurus/src/index.js";
import starlight from "../../integrations/starlight/src/index.js";
import { attributesOf, keysOf } from "../../integrations/vitepress/src/options.js";
import { evidenceChat } from "../../integrations/vitepress/src/index.js";

const ROOT = new URL("../../", import.meta.url);
const read = (path) => readFile(new URL(path, ROOT), "utf8");

test("Docusaurus: options become attributes, with a shortcut unless it is off", () => {
  const options = { id: "default", endpoint: "/api/chat", modelUrl: "/m/", preload: true };
  assert.deepEqual(readOptions(options), {
    label: "Ask",
    setup: undefined,
    shortcut: "mod+k",
    attributes: { endpoint: "/api/chat", "model-url": "/m/", preload: "", shortcut: "mod+k" },
  });
  const unset = { shortcut: false, preload: false, heading: undefined, setup: undefined };
  assert.deepEqual(readOptions(unset).attributes, { shortcut: "off" });
});

test("Docusaurus: an option of the wrong type is rejected by its name", () => {
  for (const options of [{ label: 1 }, { setup: true }, { shortcut: true }, { endpoint: 5 }, { heading: null }])
    assert.throws(() => readOptions(options), new RegExp(`docusaurus: ${Object.keys(options)[0]} must be a text`));
});

test("Docusaurus: the site's data has no path of its setup module, which webpack resolves", async () => {
  const plugin = docusaurus({ siteDir: "/site" }, { endpoint: "/api/chat", setup: "./src/chat.js" });
  let data;
  await plugin.contentLoaded({ actions: { setGlobalData: (given) => (data = given) } });
  assert.deepEqual(Object.keys(data), ["label", "shortcut", "attributes"]);
  assert.deepEqual(plugin.configureWebpack().resolve.alias, { "@evidence-chat-setup$": "/site/src/chat.js" });
});

test("VitePress: options become attributes, and Vite leaves the widget as it is", () => {
  assert.deepEqual(attributesOf({ supportUrl: "mailto:a@b.c", greeting: undefined, preload: true }), {
    "support-url": "mailto:a@b.c",
    preload: "",
    shortcut: "mod+k",
    mode: "floating",
  });
  assert.equal(attributesOf({ shortcut: false }).shortcut, "off");
  assert.ok(evidenceChat().config().optimizeDeps.exclude.includes("@evidence-chat/widget"));
});

test("all plugins make the same attributes of the same options", async () => {
  // Each is a package of its own, without a build, so each has a copy.
  const copies = await Promise.all(
    ["vitepress", "starlight"].map((name) => read(`integrations/${name}/src/options.js`)),
  );
  assert.equal(copies[0], copies[1]);
  const options = {
    endpoint: "/api/chat",
    modelUrl: "/m/",
    preload: true,
    heading: undefined,
    writerModelSha256: "ab",
  };
  const { mode, ...attributes } = attributesOf(options);
  assert.deepEqual(readOptions(options).attributes, attributes);
  assert.equal(mode, "floating");
});

test("the shortcut is shown as on the visitor's keyboard", () => {
  assert.equal(keysOf(undefined, "MacIntel"), "⌘K");
  assert.equal(keysOf("mod+j", "Win32"), "Ctrl J");
  assert.equal(keysOf(false, "Win32"), "");
  assert.equal(keysOf("k", "Win32"), "");
});

/**
 * Runs the hook of the plugin and gives the module with its options.
 * @param {Record<string, any>} options
 * @param {Record<string, any>} [config]
 */
function starlightSettings(options, config = {}) {
  /** @type {any} */
  let plugin;
  let components;
  const addIntegration = ({ hooks }) =>
    hooks["astro:config:setup"]({
      config: { root: new URL("file:///site/") },
      updateConfig: ({ vite }) => ([plugin] = vite.plugins),
    });
  const updateConfig = (update) => ({ components } = update);
  starlight(options).hooks["config:setup"]({ config, updateConfig, addIntegration });
  const load = (name) => plugin.load(plugin.resolveId(name));
  const settings = JSON.parse(load("virtual:evidence-chat").replace(/^export default |;$/g, ""));
  return { components, settings, setup: load("virtual:evidence-chat/setup"), plugin };
}

test("Starlight: ⌘K is left to the site's search, unless it has none", () => {
  assert.equal(starlightSettings({}).settings.attributes.shortcut, "mod+j");
  assert.equal(starlightSettings({}, { pagefind: false }).settings.attributes.shortcut, "mod+k");
  assert.equal(starlightSettings({ shortcut: "mod+i" }).settings.keys.apple, "⌘I");
  assert.deepEqual(starlightSettings({ shortcut: false }).settings.keys, { apple: "", other: "" });
});

test("Starlight: the site's own components win, and the setup module is found in the site's folder", () => {
  const own = { SocialIcons: "./mine.astro" };
  assert.deepEqual(starlightSettings({}, { components: own }).components, own);
  const { setup, plugin } = starlightSettings({ setup: "./src/my chat.js" });
  assert.equal(setup, 'export { default as setup } from "/site/src/my chat.js";');
  assert.equal(plugin.resolveId("other"), undefined);
  assert.match(starlightSettings({}).setup, /^export const setup = \(\) => \{\};$/);
});

test("Docusaurus: every package that the theme imports is a dependency, and its style sheet has an effect", async () => {
  const { dependencies, peerDependencies, sideEffects } = JSON.parse(
    await read("integrations/docusaurus/package.json"),
  );
  const text = await read("integrations/docusaurus/src/theme/NavbarItem/EvidenceChatNavbarItem.js");
  const imported = [...text.matchAll(/(?:from|import\() ?"((?:@[^/"]+\/)?[^/"]+)/g)].map(([, name]) => name);
  // Docusaurus gives these names to modules of @docusaurus/core, and the plugin gives its own.
  const aliases = ["@docusaurus/useDocusaurusContext", "@docusaurus/useGlobalData", "@evidence-chat-setup"];
  const needed = imported.filter((name) => !aliases.includes(name));
  assert.ok(needed.includes("@docusaurus/theme-common"), needed.join());
  assert.deepEqual(
    needed.filter((name) => !(name in { ...dependencies, ...peerDependencies })),
    [],
  );
  assert.deepEqual(sideEffects, ["*.css"]);
});

for (const name of ["docusaurus", "vitepress", "starlight"]) {
  test(`${name}: the package has the licence texts, its files, and the version of the widget`, async () => {
    const manifest = JSON.parse(await read(`integrations/${name}/package.json`));
    const widget = JSON.parse(await read("web/package.json"));
    assert.equal(manifest.version, widget.version);
    assert.deepEqual(manifest.dependencies, { "@evidence-chat/widget": widget.version });
    assert.deepEqual(manifest.publishConfig, { access: "public", provenance: true });
    for (const file of ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"])
      assert.equal(await read(`integrations/${name}/${file}`), await read(file), file);
    for (const target of Object.values(manifest.exports))
      for (const path of typeof target === "string" ? [target] : Object.values(target))
        assert.ok(await read(`integrations/${name}/${path}`), path);
    assert.ok(["README.md", "src"].every((file) => manifest.files.includes(file)));
  });
}

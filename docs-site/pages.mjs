// The pages of the site: files of the repository, in the order of the sidebar.
import { posix } from "node:path";

/** Titles of the sidebar, each with its file, and the heading in it. */
export const GROUPS = {
  Start: {
    "Five minutes": "docs/start.md",
    "How a question is read": "docs/reader.md",
    "How good, how fast": "docs/benchmarks.md",
    "A million passages": "docs/scale.md",
    "Compared with other tools": "docs/comparison.md",
  },
  Embed: {
    "On a page": "web/README.md",
    Frameworks: "web/README.md#react-vue",
    "Attributes and events": "web/README.md#reference",
    "Styling, languages": "web/README.md#styling",
    "Content-Security-Policy": "web/README.md#security",
    "Every state, in pictures": "web/README.md#every-state-in-pictures",
    Examples: "examples/README.md",
    "Agents (MCP)": "docs/mcp.md",
    Docusaurus: "integrations/docusaurus/README.md",
    VitePress: "integrations/vitepress/README.md",
    Starlight: "integrations/starlight/README.md",
    WordPress: "integrations/wordpress/README.md",
  },
  Fill: {
    "Documents and formats": "docs/admin.md",
    "Daily work": "docs/admin.md#daily-work-in-the-dashboard",
    "The kb command": "docs/kb.md",
  },
  Protect: {
    "Sign-in": "docs/sign-in.md",
    "Who may see a document": "docs/admin.md#who-may-see-a-document",
    "Threat model": "docs/threat-model.md",
    Privacy: "docs/privacy.md",
  },
  Operate: {
    "The evidence-chat command": "packages/evidence-chat/README.md",
    Deploy: "docs/deploy.md",
    Insights: "docs/insights.md",
    Settings: "docs/settings.md",
    "Monitoring, limits": "docs/deploy.md#monitoring",
    "Versions, keys, rollback": "docs/deploy.md#rolling-back",
    Configuration: "docs/configuration.md",
    "Written answers": "docs/generation.md",
    Troubleshooting: "docs/troubleshooting.md",
  },
  Reference: {
    "The API": "docs/api.md",
    "HTTP routes": "docs/http.md",
    Embedder: "embedder-wasm/npm/README.md",
    Writer: "writer/npm/README.md",
    Database: "supabase/README.md",
    Contracts: "docs/contracts.md",
    Decisions: "docs/decisions.md",
    Releasing: "docs/release.md",
  },
};

/** The page that `build.mjs` makes from docs/openapi.yaml. */
export const HTTP_PAGE = "docs/http.md";
/** The files of all pages. */
export const PAGES = new Set(["docs/index.md", ...Object.values(GROUPS).flatMap(Object.values).map(fileOf)]);
export const REPOSITORY = "https://github.com/evidence-chat/evidence-chat";

/** The file of a page as VitePress sees it: `start.md`, `web/index.md`. */
export const routeOf = (/** @type {string} */ file) => file.replace(/^docs\//, "").replace(/README\.md$/, "index.md");

/** The page's address below the root of the site: `start.html`, `web/`. */
export const addressOf = (/** @type {string} */ file) =>
  routeOf(file)
    .replace(/index\.md$/, "")
    .replace(/\.md$/, ".html");

/** What a link in a file of the repository leads to on the site, or on GitHub if the site does not have it. */
export function resolveLink(/** @type {string} */ from, /** @type {string} */ link) {
  if (/^([a-z][a-z\d+.-]*:|#)/i.test(link)) return link;
  const target = posix.join(posix.dirname(from), link);
  if (PAGES.has(fileOf(target))) return `/${routeOf(fileOf(target))}${target.slice(fileOf(target).length)}`;
  return `${REPOSITORY}/${posix.extname(fileOf(target)) ? "blob" : "tree"}/main/${target}`;
}

function fileOf(/** @type {string} */ link) {
  return link.replace(/#.*/, "");
}

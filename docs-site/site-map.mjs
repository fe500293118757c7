// The pages of the site, in the order of its sidebar.

/**
 * One page. `source` is a Markdown file of the repository, of which `sections` are the headings of the second level that the
 * page shows; a page without `sections` shows what no other page of that file does. `generate` makes the page instead.
 * @typedef {object} Page
 * @property {string} route path below the root of the site
 * @property {string} title in the sidebar and in the window
 * @property {string} [source]
 * @property {readonly string[]} [sections]
 * @property {"http" | "database" | "widget-client" | "embedder-types"} [generate]
 * @property {"home" | "playground"} [layout] a page without sidebar
 * @property {string} [description] for search engines
 */

/** @type {readonly Page[]} */
export const ALONE = [
  { route: "index", title: "Evidence Chat", source: "docs/index.md", layout: "home" },
  { route: "playground", title: "Playground", source: "docs/playground.md", layout: "playground" },
];

const WIDGET = "web/README.md";
const ADMIN = "docs/admin.md";
const DEPLOY = "docs/deploy.md";

/** @type {readonly { title: string, pages: readonly Page[] }[]} */
export const GROUPS = [
  {
    title: "Start",
    pages: [
      { route: "start", title: "Five minutes", source: "docs/start.md" },
      { route: "reader", title: "How a question is read", source: "docs/reader.md" },
      { route: "quality", title: "How good, how fast", source: "docs/benchmarks.md" },
      { route: "scale", title: "A million passages", source: "docs/scale.md" },
      { route: "comparison", title: "Compared with other tools", source: "docs/comparison.md" },
    ],
  },
  {
    title: "Embed",
    pages: [
      { route: "embed/", title: "On a page", source: WIDGET },
      { route: "embed/frameworks", title: "Frameworks", source: WIDGET, sections: ["React, Vue", "Only the client"] },
      { route: "embed/examples", title: "Examples", source: "examples/README.md" },
      { route: "embed/agents", title: "Agents (MCP)", source: "docs/mcp.md" },
      { route: "embed/docusaurus", title: "Docusaurus", source: "integrations/docusaurus/README.md" },
      { route: "embed/vitepress", title: "VitePress", source: "integrations/vitepress/README.md" },
      { route: "embed/starlight", title: "Starlight", source: "integrations/starlight/README.md" },
      { route: "embed/wordpress", title: "WordPress", source: "integrations/wordpress/README.md" },
      { route: "embed/reference", title: "Attributes and events", source: WIDGET, sections: ["Reference"] },
      { route: "embed/styling", title: "Styling, languages", source: WIDGET, sections: ["Styling", "Languages"] },
      { route: "embed/security", title: "Content-Security-Policy", source: WIDGET, sections: ["Security"] },
      { route: "embed/written", title: "Written answers", source: WIDGET, sections: ["Written answers"] },
      {
        route: "embed/states",
        title: "Every state, in pictures",
        source: WIDGET,
        sections: ["Every state, in pictures"],
      },
    ],
  },
  {
    title: "Fill",
    pages: [
      { route: "fill/", title: "Documents and formats", source: ADMIN },
      {
        route: "fill/daily",
        title: "Daily work",
        source: ADMIN,
        sections: ["Daily work in the dashboard", "Daily work on the command line", "When something is wrong"],
      },
      { route: "fill/npx", title: "kb without a compiler", source: "packages/kb/README.md" },
      { route: "fill/kb", title: "The kb command", source: "docs/kb.md" },
    ],
  },
  {
    title: "Protect",
    pages: [
      { route: "protect/sign-in", title: "Sign-in", source: "docs/sign-in.md" },
      {
        route: "protect/audiences",
        title: "Who may see a document",
        source: ADMIN,
        sections: ["Who may see a document"],
      },
      { route: "protect/threats", title: "Threat model", source: "docs/threat-model.md" },
      { route: "protect/privacy", title: "Privacy", source: "docs/privacy.md" },
    ],
  },
  {
    title: "Operate",
    pages: [
      { route: "operate/create", title: "A project in one command", source: "packages/create-evidence-chat/README.md" },
      { route: "operate/worker", title: "The prebuilt Worker", source: "packages/worker/README.md" },
      { route: "operate/deploy", title: "Deploy", source: DEPLOY },
      { route: "operate/insights", title: "Insights", source: "docs/insights.md" },
      { route: "operate/settings", title: "Settings page", source: "docs/settings.md" },
      {
        route: "operate/monitoring",
        title: "Monitoring, limits",
        source: DEPLOY,
        sections: ["Monitoring", "Rate limits"],
      },
      {
        route: "operate/changes",
        title: "Versions, keys, rollback",
        source: DEPLOY,
        sections: ["Rolling back", "Backup and restore", "Changing keys", "A new version", "Removing it", "Checklists"],
      },
      { route: "operate/configuration", title: "Configuration", source: "docs/configuration.md" },
      { route: "operate/written-answers", title: "Written answers", source: "docs/generation.md" },
      { route: "operate/troubleshooting", title: "Troubleshooting", source: "docs/troubleshooting.md" },
    ],
  },
  {
    title: "Reference",
    pages: [
      { route: "reference/api", title: "The API", source: "docs/api.md" },
      { route: "reference/http", title: "HTTP routes", generate: "http" },
      { route: "reference/client", title: "Client types", generate: "widget-client" },
      { route: "reference/embedder", title: "Embedder", source: "embedder-wasm/npm/README.md" },
      { route: "reference/embedder-types", title: "Embedder types", generate: "embedder-types" },
      { route: "reference/database", title: "Database", generate: "database" },
      { route: "reference/contracts", title: "Contracts", source: "docs/contracts.md" },
      { route: "reference/decisions", title: "Decisions", source: "docs/decisions.md" },
    ],
  },
];

/** All pages. */
export const PAGES = [...ALONE, ...GROUPS.flatMap(({ pages }) => pages)];

/** The route as a path of the site: `/embed/styling`, `/embed/`, `/`. */
export const pathOf = (/** @type {string} */ route) => `/${route}`.replace(/\/index$/, "/");

/** The file of the page among the assembled ones. */
export const fileOf = (/** @type {string} */ route) => (route.endsWith("/") ? `${route}index.md` : `${route}.md`);

/** The page's address, relative to the root of the site. */
export const addressOf = (/** @type {string} */ route) =>
  route === "index" || route.endsWith("/") ? route.replace(/^index$/, "") : `${route}.html`;

import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { ASSEMBLED } from "../assemble/index.mjs";
import { slugOf } from "../assemble/markdown.mjs";
import { GROUPS, pathOf } from "../site-map.mjs";

const REPOSITORY = "https://github.com/evidence-chat/evidence-chat";
const root = fileURLToPath(new URL("../..", import.meta.url));

export default defineConfig({
  srcDir: ASSEMBLED,
  outDir: `${root}docs-site/dist`,
  cacheDir: `${root}target/docs/cache`,
  base: process.env.DOCS_BASE ?? "/",
  ...(process.env.DOCS_URL && { sitemap: { hostname: process.env.DOCS_URL } }),
  lang: "en",
  title: "Evidence Chat",
  description:
    "A chat for your site that answers from your documents, by default word for word, and always with sources.",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${process.env.DOCS_BASE ?? "/"}favicon.svg` }]],
  // Otherwise each page has a script of its own, and the policy a hash of each.
  metaChunk: true,
  transformHtml: (html) => withPolicy(html),
  /** The link to edit a page leads to the file that it comes from. */
  transformPageData: (page) => ({ filePath: page.frontmatter.source ?? "docs-site/site-map.mjs" }),
  markdown: {
    anchor: { slugify: slugOf },
    // The anchors that `assemble` writes; braces are common in the text.
    attrs: { leftDelimiter: "%{", rightDelimiter: "}%", allowedAttributes: ["id"] },
    image: { lazyLoading: true },
    // The usual light theme has too little contrast on our background.
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    config: (md) => {
      // An empty head of a column is not a header.
      const tagOf = (token) => (token.content === "" ? "td" : "th");
      md.renderer.rules.th_open = (tokens, at) => `<${tagOf(tokens[at + 1])}>`;
      md.renderer.rules.th_close = (tokens, at) => `</${tagOf(tokens[at - 1])}>`;
    },
  },
  vue: { template: { compilerOptions: { isCustomElement: (tag) => tag === "evidence-chat" } } },
  themeConfig: {
    logo: "/favicon.svg",
    nav: [
      { text: "Start", link: "/start" },
      { text: "Docs", link: "/embed/", activeMatch: "^/(embed|fill|protect|operate)/" },
      { text: "Reference", link: "/reference/api", activeMatch: "^/reference/" },
      { text: "Playground", link: "/playground" },
    ],
    sidebar: GROUPS.map(({ title, pages }) => ({
      text: title,
      items: pages.map((page) => ({ text: page.title, link: pathOf(page.route) })),
    })),
    outline: { level: [2, 3], label: "On this page" },
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    // A function here would be evaluated in the page, which the policy forbids.
    editLink: { text: "Edit this page", pattern: `${REPOSITORY}/edit/main/:path` },
    externalLinkIcon: false,
  },
});

/**
 * The page with a Content-Security-Policy: no script but the site's files and the inline ones that VitePress writes, by their
 * hash; and no connection but to the site itself and the chat's server.
 */
function withPolicy(/** @type {string} */ html) {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, script]) => script);
  const hashes = new Set(inline.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`));
  const servers = (process.env.DOCS_CONNECT ?? "").split(" ").filter(Boolean);
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${[...hashes].join(" ")}`.trim(),
    // VitePress disables transitions with this style while it changes the theme.
    "style-src 'self' 'sha256-skqujXORqzxt1aE0NNXxujEanPTX6raoqSscTV/Ww/Y='",
    // The colours of code are attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "worker-src 'self'",
    ["connect-src 'self'", ...servers].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html.replace("<head>", `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`);
}

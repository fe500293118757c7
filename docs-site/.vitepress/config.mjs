import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { GROUPS, REPOSITORY, resolveLink, routeOf } from "../pages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const srcDir = `${root}target/docs/pages`;
const base = process.env.DOCS_BASE ?? "/";

export default defineConfig({
  srcDir,
  outDir: `${root}docs-site/dist`,
  cacheDir: `${root}target/docs/cache`,
  base,
  ...(process.env.DOCS_URL && { sitemap: { hostname: process.env.DOCS_URL } }),
  rewrites: routeOf,
  lang: "en",
  title: "Evidence Chat",
  description:
    "A chat for your site that answers from your documents, by default word for word, and always with sources.",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}favicon.svg` }]],
  markdown: {
    // The default themes have too little contrast.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: githubSlug },
    // Braces are common in the text.
    attrs: { disable: true },
    config: (md) =>
      md.core.ruler.push("links", ({ tokens, env }) => {
        const file = relative(srcDir, env.realPath ?? env.path).replaceAll("\\", "/");
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          if (token.type === "link_open") token.attrSet("href", resolveLink(file, token.attrGet("href") ?? ""));
        }
      }),
  },
  themeConfig: {
    logo: "/favicon.svg",
    nav: [
      { text: "Start", link: "/start" },
      { text: "Embed", link: "/web/" },
      { text: "API", link: "/api" },
    ],
    sidebar: Object.entries(GROUPS).map(([text, pages]) => ({
      text,
      items: Object.entries(pages).map(([text, file]) => ({ text, link: resolveLink("", file) })),
    })),
    outline: [2, 3],
    search: { provider: "local" },
    socialLinks: [{ icon: "github", link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/:path` },
  },
});

/** As GitHub makes anchors: letters, digits, hyphens and underscores stay; spaces become hyphens. */
function githubSlug(/** @type {string} */ heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

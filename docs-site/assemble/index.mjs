// Writes the pages of the site as VitePress reads them: whole files of the repository or some of their sections, with links
// between them, and the pages that are generated.
import { cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { addressOf, fileOf, PAGES, pathOf } from "../site-map.mjs";
import { drawCharts } from "./charts.mjs";
import { databasePage } from "./database.mjs";
import { parse, replaceLinks } from "./markdown.mjs";
import { llmsFiles } from "./llms.mjs";
import { openapiPage } from "./openapi.mjs";
import { typesPage } from "./types.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Where the pages are written; VitePress reads this folder. */
export const ASSEMBLED = join(ROOT, "target/docs/pages");
/** Where the pages are written for `kb sync`: without what only VitePress reads, and with their addresses. */
const FOR_KB = join(ROOT, "target/docs/kb");
/** The files for language models, which are added to the built site. */
export const FOR_MODELS = join(ROOT, "target/docs/llms");
/** Pages that answer no question of a user. */
export const FOR_CONTRIBUTORS = new Set(["docs/contracts.md", "docs/decisions.md"]);
const REPOSITORY = "https://github.com/evidence-chat/evidence-chat";

/**
 * Writes all pages and their pictures.
 * @param {string} address of the site
 */
export async function assemble(address) {
  for (const folder of [ASSEMBLED, FOR_KB, FOR_MODELS]) await rm(folder, { recursive: true, force: true });
  const site = await Site.read();
  /** @type {Map<string, string>} */
  const texts = new Map();
  for (const page of PAGES) {
    const text = page.generate ? await GENERATE[page.generate]() : site.page(page);
    await write(ASSEMBLED, page, `${frontMatter(page)}\n${page.route === "quality" ? drawCharts(text) : text}`);
    // The home page and the playground are drawn by components.
    if (!page.layout) texts.set(page.route, text);
    if (page.source && !FOR_CONTRIBUTORS.has(page.source)) {
      const url = new URL(addressOf(page.route), address).href;
      const head = yaml({ title: page.title, url });
      await write(FOR_KB, page, `${head}\n${text.replace(/ %\{#[^}]*\}%/g, "")}`);
    }
  }
  for (const [path, text] of llmsFiles(texts, address)) {
    const file = join(FOR_MODELS, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const media = join(ASSEMBLED, "public/media");
  await mkdir(media, { recursive: true });
  for (const path of site.pictures) await cp(join(ROOT, path), join(media, basename(path)));
  return site.pictures.size;
}

async function write(folder, { route }, text) {
  const file = join(folder, fileOf(route));
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

const GENERATE = {
  http: async () => openapiPage(await readFile(join(ROOT, "docs/openapi.yaml"), "utf8")),
  async database() {
    const folder = join(ROOT, "supabase/migrations");
    const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
    return databasePage(await Promise.all(names.map((name) => readFile(join(folder, name), "utf8"))));
  },
  "widget-client": () => typesPage(join(ROOT, "web"), "Client types"),
  "embedder-types": () => typesPage(join(ROOT, "embedder-wasm/npm"), "Embedder types"),
};

function frontMatter(/** @type {import("../site-map.mjs").Page} */ { title, source, layout, description }) {
  const isAlone = layout !== undefined;
  const lines = {
    title,
    ...(description && { description }),
    ...(source && { source }),
    ...(isAlone && {
      pageClass: `${layout}-page`,
      sidebar: false,
      aside: false,
      editLink: false,
      prev: false,
      next: false,
    }),
  };
  return yaml(lines);
}

function yaml(fields) {
  const lines = Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`);
  return `---\n${lines.join("")}---\n`;
}

/** The sources of all pages, and which page shows which heading. */
class Site {
  /** Pictures that pages show, as paths of the repository. */
  pictures = new Set();
  #sources = new Map();

  static async read() {
    const site = new Site();
    for (const path of new Set(PAGES.flatMap(({ source }) => source ?? []))) {
      const text = await readFile(join(ROOT, path), "utf8");
      site.#sources.set(path, { path, text, ...parse(text), sections: [] });
    }
    for (const source of site.#sources.values()) site.#divide(source);
    return site;
  }

  /** The Markdown of a page that shows a file, or sections of it. */
  page(page) {
    const { route, source: path, sections: wanted, title } = page;
    const source = this.#sources.get(path);
    const own = source.sections.filter((section) => section.route === route);
    const only = wanted?.length === 1;
    // A page with one section has its heading as the title; one with several gets a title of its own.
    const lift = only ? 1 : 0;
    const pieces = own.map((section) => this.#convert(source, section, page, lift));
    return `${wanted && !only ? `# ${title}\n\n` : ""}${pieces.join("\n\n")}\n`;
  }

  /** Divides a file at its headings of the second level among the pages that show it. */
  #divide(source) {
    const pages = PAGES.filter((page) => page.source === source.path);
    const rest = pages.filter(({ sections }) => !sections);
    if (rest.length !== 1) throw new Error(`site-map.mjs: ${source.path} needs one page without "sections"`);
    const heads = source.headings.filter(({ depth }) => depth === 2);
    const routeOf = (text) => (pages.find(({ sections }) => sections?.includes(text)) ?? rest[0]).route;
    source.sections = [
      { route: rest[0].route, start: 0, end: heads[0]?.start ?? source.text.length },
      ...heads.map(({ text, start }, index) => ({
        route: routeOf(text),
        start,
        end: heads[index + 1]?.start ?? source.text.length,
      })),
    ];
    const missing = pages
      .flatMap(({ sections = [] }) => sections)
      .filter((name) => !heads.some(({ text }) => text === name));
    if (missing.length > 0) throw new Error(`site-map.mjs: ${source.path} has no section ${missing.join(", ")}`);
  }

  #convert(source, { start, end }, { route, title }, lift) {
    const headings = source.headings.filter((heading) => heading.start >= start && heading.start < end);
    let text = "";
    let at = start;
    const upTo = (to) => replaceLinks(source.text, source.links, (link) => this.#resolve(source, link, route), at, to);
    for (const heading of headings) {
      text += upTo(heading.start);
      const [line] = source.text.slice(heading.start, heading.end).split("\n");
      // The only section of a page is a page now, with a title that says more.
      const words = lift > 0 && heading.depth === 2 ? title : line.replace(/^#+\s*/, "");
      text += `${"#".repeat(Math.max(1, heading.depth - lift))} ${words} %{#${heading.slug}}%`;
      at = heading.end;
    }
    return (text + upTo(end)).trim();
  }

  /** The address on the site of what a link in a file points to; on GitHub if the site does not have it. */
  #resolve(source, { url, kind }, route) {
    if (/^[a-z][a-z\d+.-]*:/i.test(url)) return url;
    const [name, anchor] = url.split("#");
    const target = name === "" ? source.path : posix.normalize(posix.join(posix.dirname(source.path), name));
    if (kind === "image") {
      this.pictures.add(target);
      return `/media/${basename(target)}`;
    }
    const found = this.#sources.get(target);
    if (!found)
      return `${REPOSITORY}/${posix.extname(target) ? "blob" : "tree"}/main/${target.replace(/\/$/, "")}${anchor ? `#${anchor}` : ""}`;
    const heading = found.headings.find(({ slug }) => slug === anchor);
    if (anchor && !heading) throw new Error(`${source.path}: ${url} leads to no heading`);
    const { route: home } = found.sections.find(
      (section) => heading === undefined || (heading.start >= section.start && heading.start < section.end),
    );
    if (home === route && anchor) return `#${anchor}`;
    return `${pathOf(home)}${anchor ? `#${anchor}` : ""}`;
  }
}

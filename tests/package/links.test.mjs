// The documentation's relative links and heading anchors, as GitHub resolves them.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, posix } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fromMarkdown } from "mdast-util-from-markdown";
import { integrityOf } from "../../web/build/integrity.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { stdout } = await promisify(execFile)("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
  cwd: ROOT,
  maxBuffer: 2 ** 26,
});
const files = new Set(stdout.split("\0").filter(Boolean));
const folders = new Set([...files].flatMap(parents));
const NOT_PUBLISHED =
  "> Version 0.1.0 is not published yet: [build it from source](https://github.com/evidence-chat/evidence-chat/blob/main/docs/start.md#from-source).";
/** Commands and code that take something of ours from a registry. */
const FROM_REGISTRY =
  /\bnpx\b.*evidence-chat|\bnpm install\b|from "@evidence-chat\/|"-y", "@evidence-chat\/|\buses: evidence-chat\/|\/evidence-chat\/kb:/;
/** What a release contains, and how it is made. */
const OF_RELEASES = ["CHANGELOG.md", "docs/release.md"];
/** Sample documents are content, not documentation. */
const documentation = [...files].filter((path) => path.endsWith(".md") && !/(^|\/)(sample-kb|documents)\//.test(path));

describe("documentation", () => {
  test("the documentation contains the files that a newcomer looks for", () => {
    const wanted = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "docs/deploy.md"];
    assert.deepEqual(
      wanted.filter((path) => !documentation.includes(path)),
      [],
    );
  });

  test("every picture is shown or linked in a page", async () => {
    const shown = new Set();
    for (const path of documentation)
      for (const link of (await read(path)).links) shown.add(posix.normalize(posix.join(dirname(path), link)));
    const pictures = [...files].filter((path) => /^(web\/)?docs\/[^/]+\.(webp|png|gif)$/.test(path));
    assert.deepEqual(
      pictures.filter((path) => !shown.has(path)),
      [],
    );
  });

  test("supabase/README.md describes every migration", async () => {
    const text = await readFile(`${ROOT}supabase/README.md`, "utf8");
    const topics = [...files].flatMap((path) => path.match(/^supabase\/migrations\/\d+_(\w+)\.sql$/)?.[1] ?? []);
    assert.ok(topics.length > 10);
    assert.deepEqual(
      topics.filter((topic) => !text.includes(`| \`…_${topic}\` |`)),
      [],
    );
  });

  test("pages that take something of ours from npm, an image or an Action say that it is not published yet", async () => {
    const silent = [];
    for (const path of documentation.filter((path) => !OF_RELEASES.includes(path))) {
      const text = await readFile(`${ROOT}${path}`, "utf8");
      if (FROM_REGISTRY.test(text) && !text.split("\n").includes(NOT_PUBLISHED)) silent.push(path);
    }
    assert.deepEqual(silent, []);
  });

  test("pages and new projects take what sees passwords and tokens in exact versions", async () => {
    const { version } = JSON.parse(await readFile(`${ROOT}node_modules/@supabase/supabase-js/package.json`, "utf8"));
    const script = await readFile(`${ROOT}node_modules/@supabase/supabase-js/dist/umd/supabase.js`);
    const tag =
      `<script src="https://cdn.jsdelivr.net/npm/@supabase/supabase-js@${version}/dist/umd/supabase.js" ` +
      `integrity="${integrityOf(script)}" crossorigin="anonymous"></script>`;
    const places = [...documentation, "packages/evidence-chat/src/create/templates.mjs"];
    const texts = await Promise.all(places.map((path) => readFile(`${ROOT}${path}`, "utf8")));
    assert.ok(texts.some((text) => text.includes(tag)));
    for (const [index, text] of texts.entries()) {
      assert.doesNotMatch(text.replaceAll(tag, ""), /cdn\.jsdelivr\.net/, places[index]);
      assert.doesNotMatch(text, /npx supabase(?!@\d+\.\d+\.\d+\b)|supabase@latest/, places[index]);
    }
    const cli = texts.flatMap((text) => text.match(/\bsupabase@\d+\.\d+\.\d+/g) ?? []);
    assert.equal(new Set(cli).size, 1, cli.join(", "));
  });

  for (const path of documentation) {
    test(`${path} has no broken relative link or anchor`, async () => {
      const { links } = await read(path);
      const problems = [];
      for (const link of links) problems.push(...(await problemsOf(path, link)));
      assert.deepEqual(problems, []);
    });
  }
});

describe("heading anchors", () => {
  test("heading anchors are made from headings as GitHub makes them", () => {
    const { anchors } = parse(
      "# The `kb` command, *quickly*\n\n## A & B\n\n## A & B\n\n### React, Vue\n\nText\n====\n",
    );
    assert.deepEqual([...anchors], ["the-kb-command-quickly", "a--b", "a--b-1", "react-vue", "text"]);
  });

  test("a link to a missing heading or file is reported", async () => {
    assert.deepEqual(await problemsOf("README.md", "#no-such-heading"), [
      "#no-such-heading: no such heading in README.md",
    ]);
    assert.deepEqual(await problemsOf("README.md", "docs/none.md"), ["docs/none.md: no such file"]);
    assert.deepEqual(await problemsOf("docs/api.md", "../README.md#try-it"), []);
  });
});

/** The problems of a link in a file. Links to other sites are not checked. */
async function problemsOf(path, link) {
  if (/^[a-z][a-z\d+.-]*:/i.test(link)) return [];
  const [name, anchor] = decodeURI(link).split("#");
  const target = name === "" ? path : posix.normalize(posix.join(dirname(path), name)).replace(/\/$/, "");
  if (target !== "." && !files.has(target) && !folders.has(target)) return [`${link}: no such file`];
  if (anchor === undefined || !target.endsWith(".md")) return [];
  return (await read(target)).anchors.has(anchor) ? [] : [`${link}: no such heading in ${target}`];
}

async function read(path) {
  return parse(await readFile(`${ROOT}${path}`, "utf8"));
}

function parse(markdown) {
  const links = [];
  const anchors = new Set();
  visit(fromMarkdown(markdown), (node) => {
    if (node.type === "link" || node.type === "image" || node.type === "definition") links.push(node.url);
    if (node.type === "heading") anchors.add(unused(slug(textOf(node)), anchors));
  });
  return { links, anchors };
}

function visit(node, look) {
  look(node);
  for (const child of node.children ?? []) visit(child, look);
}

const textOf = (node) => node.value ?? (node.children ?? []).map(textOf).join("");

/** Letters, digits, hyphens and underscores stay; spaces become hyphens. */
const slug = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");

function unused(name, taken) {
  let candidate = name;
  for (let count = 1; taken.has(candidate); count++) candidate = `${name}-${count}`;
  return candidate;
}

function parents(path) {
  const parent = dirname(path);
  return parent === "." ? [] : [parent, ...parents(parent)];
}

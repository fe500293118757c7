import type { Definition, Nodes, Root, RootContent, Text } from "mdast";
import { type CompileContext, type Extension, fromMarkdown, type Token } from "mdast-util-from-markdown";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";
import { safeLink } from "../../../client/safe-url.js";
import { codeRuns, htmlRuns, inlineCodeRuns, textRuns } from "./runs.js";
import { type Branch, type PassageNode, plainPassage, type Range, type Tag } from "./tree.js";

/** A longer passage, in UTF-16 code units, is shown as plain text. Ordinary ones have one or two thousand. */
const MAX_MARKDOWN_LENGTH = 16_384;
/** A passage with more markup characters is shown as plain text, because parsing it could take long. */
const MAX_MARKUP_CHARS = 2000;
/** Twenty nested quotations or lists that begin on one line. */
const TOO_DEEP = /(?:>[ \t]*|[-+*][ \t]+|\d{1,9}[.)][ \t]+){20}/;
/** Parts below this depth are shown without their markup. */
const MAX_DEPTH = 24;

/** Parses a passage. Without a type it is Markdown, as in the API. A text that cannot be parsed is plain text. */
export function parsePassage(source: string, contentType: string | undefined): readonly PassageNode[] {
  const isMarkdown = contentType === undefined || /^text\/markdown\b/i.test(contentType);
  if (!isMarkdown || isExcessive(source)) return plainPassage(source);
  try {
    return new Reader(source).read();
  } catch {
    return plainPassage(source);
  }
}

function isExcessive(source: string): boolean {
  if (source.length > MAX_MARKDOWN_LENGTH || TOO_DEEP.test(source)) return true;
  return (source.match(/[[\]<>*_~`|]/g)?.length ?? 0) > MAX_MARKUP_CHARS;
}

/** Converts the parser's tree into passage nodes. */
class Reader {
  readonly #source: string;
  readonly #tree: Root;
  readonly #definitions = new Map<string, Definition>();

  constructor(source: string) {
    this.#source = source;
    this.#tree = fromMarkdown(source, {
      extensions: [gfmTable(), gfmStrikethrough({ singleTilde: false })],
      mdastExtensions: [gfmTableFromMarkdown(), gfmStrikethroughFromMarkdown(), SEPARATE_RUNS],
    });
  }

  read(): readonly PassageNode[] {
    this.#define(this.#tree.children);
    return this.#all(this.#tree.children, 0);
  }

  #define(nodes: readonly RootContent[]): void {
    for (const node of nodes) {
      if (node.type === "definition" && !this.#definitions.has(node.identifier))
        this.#definitions.set(node.identifier, node);
      else if ("children" in node) this.#define(node.children);
    }
  }

  #all(nodes: readonly Nodes[], depth: number): readonly PassageNode[] {
    return nodes.flatMap((node) => this.#one(node, depth));
  }

  #one(node: Nodes, depth: number): readonly PassageNode[] {
    const place = { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 };
    switch (node.type) {
      case "text":
        return textRuns(this.#source, place, node.value);
      case "inlineCode":
        return [branch("code", inlineCodeRuns(this.#source, place, node.value))];
      case "code":
        return [branch("codeBlock", codeRuns(this.#source, place, node.value))];
      case "html":
        return htmlRuns(this.#source, place, node.value);
      case "break":
        return [{ kind: "run", text: "\n", ...place }];
      case "definition":
        return isFootnote(node) ? [branch("paragraph", this.#asWritten(place))] : [];
      case "linkReference":
        if (isFootnote(node)) return this.#asWritten(place);
        break;
      case "image":
      case "imageReference":
        return node.alt ? [{ kind: "run", text: node.alt, ...place }] : [];
    }
    if (!("children" in node)) return [];
    const children = this.#all(node.children, depth + 1);
    if (depth > MAX_DEPTH) return children;
    switch (node.type) {
      case "link":
        return this.#link(node.url, children);
      case "linkReference":
        return this.#link(this.#definitions.get(node.identifier)?.url, children);
      case "list":
        return [
          node.ordered ? { ...branch("orderedList", children), first: node.start ?? 1 } : branch("list", children),
        ];
      case "table": {
        const [head, ...rows] = children;
        return [branch("table", head?.kind === "branch" ? [headOf(head), ...rows] : children)];
      }
      case "root":
        return children;
      default: {
        const tag = TAGS[node.type];
        return tag ? [branch(tag, children)] : children;
      }
    }
  }

  #asWritten(place: Range): readonly PassageNode[] {
    return [{ kind: "run", text: this.#source.slice(place.start, place.end), ...place }];
  }

  /** Only web and mail links; text with another link stays without the link. */
  #link(url: string | undefined, children: readonly PassageNode[]): readonly PassageNode[] {
    const href = safeLink(url);
    return href === undefined ? children : [{ ...branch("link", children), href }];
  }
}

/** The parser does not know footnotes, and takes some of them for links. */
function isFootnote({ identifier }: { readonly identifier: string }): boolean {
  return identifier.startsWith("^");
}

const TAGS: { readonly [type in Nodes["type"]]?: Tag } = {
  blockquote: "quotation",
  delete: "deleted",
  emphasis: "emphasis",
  heading: "heading",
  listItem: "item",
  paragraph: "paragraph",
  strong: "strong",
  tableCell: "cell",
  tableRow: "row",
};

function branch(tag: Tag, children: readonly PassageNode[]): Branch {
  return { kind: "branch", tag, children };
}

/** The first row of a table, whose cells are the names of its columns. */
function headOf(row: Branch): Branch {
  return { ...row, children: row.children.map((cell) => (cell.kind === "branch" ? { ...cell, tag: "head" } : cell)) };
}

/** Keeps escapes and entities in separate text nodes, so that offsets stay correct. */
const SEPARATE_RUNS: Extension = {
  enter: { data: enterRun, characterEscape: enterRun, characterReference: enterRun },
};

function enterRun(this: CompileContext, token: Token): void {
  const parent = this.stack.at(-1);
  if (!parent || !("children" in parent)) throw new TypeError("Text outside of a parent");
  const at = { line: token.start.line, column: token.start.column, offset: token.start.offset };
  const text: Text = { type: "text", value: "", position: { start: at, end: at } };
  (parent.children as Text[]).push(text);
  this.stack.push(text);
}

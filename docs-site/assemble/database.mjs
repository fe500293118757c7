// The page about the database, from the comments in the migrations.
import { inline, cell, table } from "./cell.mjs";

const COMMENT =
  /^comment on (table|view|column|function) public\.([\w."]+)(\([^)]*\))?\s+is\s+((?:'(?:[^']|'')*'\s*)+);/gm;

/** @returns {string} Markdown */
export function databasePage(/** @type {readonly string[]} */ migrations) {
  const things = new Map();
  for (const sql of migrations) {
    for (const [, kind, name, parameters = "", text] of sql.matchAll(COMMENT)) {
      const [relation, column] = name.split(".");
      if (column === undefined) things.set(relation, { kind, parameters, text: unquoted(text), columns: [] });
      else things.get(relation)?.columns.push([`\`${column}\``, cell(unquoted(text))]);
    }
  }
  const of = (...kinds) => [...things].filter(([, { kind }]) => kinds.includes(kind));
  const page = [
    "# Database",
    "The tables, views and functions of the schema `public`, with the comments that the dashboard shows next to them. Row Level Security decides what a user sees of them; the migrations are in [supabase/migrations](https://github.com/evidence-chat/evidence-chat/tree/main/supabase/migrations).",
    "## Tables and views",
  ];
  for (const [name, { text, columns }] of of("table", "view"))
    page.push(`### ${name}`, inline(text), table(["column", ""], columns));
  page.push("## Functions");
  for (const [name, { parameters, text }] of of("function"))
    page.push(`### ${name}`, `\`${name}${parameters}\``, inline(text));
  return `${page
    .filter(Boolean)
    .map((part) => part.trim())
    .join("\n\n")}\n`;
}

/** The text of adjacent string literals. */
const unquoted = (literals) =>
  [...literals.matchAll(/'((?:[^']|'')*)'/g)].map(([, text]) => text.replaceAll("''", "'")).join("");

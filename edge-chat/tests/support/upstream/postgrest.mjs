// The part of PostgREST's query language that the Worker uses: filters, `and`/`or`, order, limit, offset, select.

const RESERVED = new Set(["select", "order", "limit", "offset", "columns", "on_conflict"]);

/** The rows that match a query, in its order. */
export function query(rows, searchParams) {
  const filters = [...searchParams].filter(([name]) => !RESERVED.has(name)).map(([name, text]) => filter(name, text));
  const found = rows.filter((row) => filters.every((matches) => matches(row)));
  const order = searchParams.get("order");
  if (order) found.sort(comparator(order));
  const offset = Number(searchParams.get("offset") ?? 0);
  const limit = Number(searchParams.get("limit") ?? Infinity);
  return found.slice(offset, offset + limit);
}

/** The columns of a query; `*` by default. */
export function project(rows, searchParams) {
  const select = searchParams.get("select") ?? "*";
  if (select === "*") return rows;
  const columns = select.split(",").map((column) => column.trim());
  return rows.map((row) => {
    for (const column of columns) {
      if (!(column in row)) throw new BadQuery(`column ${column} does not exist`);
    }
    return Object.fromEntries(columns.map((column) => [column, row[column]]));
  });
}

/** A query that PostgREST rejects with 400. */
export class BadQuery extends Error {}

function filter(name, text) {
  if (name === "and" || name === "or") return group(name, text);
  if (name === "not.and" || name === "not.or") return negate(group(name.slice(4), text));
  return condition(name, text);
}

function group(kind, text) {
  const inner = /^\((.*)\)$/s.exec(text)?.[1];
  if (inner === undefined) throw new BadQuery(`not a list: ${text}`);
  const members = splitList(inner).map((member) => {
    const nested = /^(not\.)?(and|or)(\(.*\))$/s.exec(member);
    if (nested) return filter(`${nested[1] ?? ""}${nested[2]}`, nested[3]);
    const [, column, rest] = /^([\w>-]+)\.(.*)$/s.exec(member) ?? [];
    if (!column) throw new BadQuery(`not a condition: ${member}`);
    return condition(column, rest);
  });
  return kind === "and"
    ? (row) => members.every((matches) => matches(row))
    : (row) => members.some((matches) => matches(row));
}

const negate = (matches) => (row) => !matches(row);

const OPERATORS = {
  eq: (a, b) => a === b,
  neq: (a, b) => a !== b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
};

function condition(column, text) {
  const [, not, operator, value] = /^(not\.)?(\w+)\.(.*)$/s.exec(text) ?? [];
  const matches = plainCondition(column, operator, value);
  return not ? negate(matches) : matches;
}

function plainCondition(column, operator, value) {
  if (operator === "in") {
    const members = new Set(splitList(value.slice(1, -1)).map(unquote));
    return (row) => members.has(String(read(row, column)));
  }
  if (operator === "is") {
    const wanted = { null: null, true: true, false: false }[value];
    return (row) => (read(row, column) ?? null) === wanted;
  }
  const compare = OPERATORS[operator];
  if (!compare) throw new BadQuery(`unknown operator in ${operator}.${value}`);
  const wanted = comparable(unquote(value));
  return (row) => compare(comparable(String(read(row, column))), wanted);
}

function read(row, column) {
  if (!(column in row)) throw new BadQuery(`column ${column} does not exist`);
  return row[column];
}

/** Compares times with microseconds, and everything else as text. */
function comparable(text) {
  const [, seconds, fraction = "", zone] =
    /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.exec(text) ?? [];
  if (!seconds) return text;
  const milliseconds = Date.parse(`${seconds.replace(" ", "T")}${zone}`);
  return String(milliseconds * 1000 + Math.round(Number(`0${fraction}`) * 1e6)).padStart(20, "0");
}

function comparator(order) {
  const terms = order.split(",").map((term) => {
    const [column, direction = "asc"] = term.split(".");
    return { column, sign: direction === "desc" ? -1 : 1 };
  });
  return (a, b) => {
    for (const { column, sign } of terms) {
      const [left, right] = [comparable(String(read(a, column))), comparable(String(read(b, column)))];
      if (left !== right) return left < right ? -sign : sign;
    }
    return 0;
  };
}

/** Splits at commas outside parentheses and quotes. */
function splitList(text) {
  const parts = [""];
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (quoted && character === "\\") parts[parts.length - 1] += text[at++];
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === "(") depth++;
    else if (!quoted && character === ")") depth--;
    if (character === "," && depth === 0 && !quoted) parts.push("");
    else parts[parts.length - 1] += text[at];
  }
  return parts;
}

const unquote = (text) => (/^".*"$/s.test(text) ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text);

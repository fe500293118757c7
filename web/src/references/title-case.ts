/** Articles, conjunctions and prepositions, which stay as they are inside a title. */
const SMALL_WORDS = new Set(
  "a an and as at but by down for from in into nor of on onto or over so the till to up via with yet".split(" "),
);

/**
 * An English title with capitals as MLA and Chicago want them. Words with a capital or a dot inside stay as they are.
 */
export function titleCase(title: string): string {
  const words = [...title.matchAll(/[^\s-]+/g)];
  const last = words.length - 1;
  return words.reduceRight((text, { 0: word, index }, number) => {
    const before = title.slice(0, index).trimEnd();
    const isFirst = number === 0 || number === last || /[:?!.]$/.test(before);
    const bare = word.replace(/[^\p{L}\p{N}'’]/gu, "");
    if ((!isFirst && SMALL_WORDS.has(bare)) || /\p{Lu}|[\p{L}\p{N}][.@/\\<>_][\p{L}\p{N}]/u.test(word)) return text;
    const at = word.search(/[\p{L}\p{N}]/u);
    // A markup tag is not a word.
    if (at < 0 || /^<|[<&]/.test(word)) return text;
    const start = index + at;
    const [first = ""] = text.slice(start);
    return `${text.slice(0, start)}${first.toUpperCase()}${text.slice(start + first.length)}`;
  }, title);
}

import type { Range, Run } from "./tree.js";

/** A complete tag or comment. */
const TAG = /<!--[\s\S]*?-->|<[/!?a-z][^<>]*>/gi;

/** The runs of a text, with a space for each line break. */
export function textRuns(source: string, place: Range, value: string): readonly Run[] {
  const shown = value.replace(/\r?\n|\r/g, " ");
  const slice = source.slice(place.start, place.end);
  const words = shown.trimEnd();
  if (slice === value && shown.length === value.length) return [run(shown, place)];
  // A line end after spaces that are not shown.
  if (value !== words && slice.startsWith(words) && slice.slice(words.length).trim() === "") {
    const middle = place.start + words.length;
    return [run(words, { start: place.start, end: middle }), run(" ", { start: middle, end: place.end })];
  }
  return [run(shown, place)];
}

/** The run between the backticks of a code span. */
export function inlineCodeRuns(source: string, place: Range, value: string): readonly Run[] {
  const at = source
    .slice(place.start, place.end)
    .replace(/[\r\n]/g, " ")
    .indexOf(value);
  return [at < 0 ? run(value, place) : runAt(value, place.start + at)];
}

/** The lines of a code block. In the source they may follow an indent or the marks of a quotation. */
export function codeRuns(source: string, place: Range, value: string): readonly Run[] {
  const slice = source.slice(place.start, place.end);
  let at = /^(`{3}|~{3})/.test(slice) ? slice.indexOf("\n") + 1 : 0;
  const runs: Run[] = [];
  for (const [number, line] of value.split("\n").entries()) {
    const found = slice.indexOf(line, at);
    if (found < 0) return [run(value, place)];
    const start = place.start + found;
    if (number > 0) runs.push(run("\n", { start: place.start + at - 1, end: Math.max(start, place.start + at) }));
    if (line !== "") runs.push(runAt(line, start));
    const next = slice.indexOf("\n", found + line.length);
    at = next < 0 ? slice.length : next + 1;
  }
  return runs;
}

/** The text between the tags of HTML. */
export function htmlRuns(source: string, place: Range, value: string): readonly Run[] {
  if (source.slice(place.start, place.end) !== value) {
    const text = value.replace(TAG, "");
    return text.trim() === "" ? [] : [run(text, place)];
  }
  const runs: Run[] = [];
  let at = 0;
  for (const tag of [...value.matchAll(TAG), { 0: "", index: value.length }]) {
    const text = value.slice(at, tag.index);
    if (text.trim() !== "") runs.push(runAt(text, place.start + at));
    at = tag.index + tag[0].length;
  }
  return runs;
}

function run(text: string, { start, end }: Range): Run {
  return { kind: "run", text, start, end };
}

function runAt(text: string, start: number): Run {
  return run(text, { start, end: start + text.length });
}

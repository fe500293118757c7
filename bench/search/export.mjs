// Writes the corpus of `corpus.mjs` for programs in other languages: one binary COPY file per table, and questions.
//
//   node bench/search/export.mjs CHUNKS FOLDER [QUESTIONS]
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import path from "node:path";
import { commonWords } from "./corpus.mjs";
import { TABLES, createCollector, tableRows } from "./tables.mjs";
import { HEADER, TRAILER } from "./copy-binary.mjs";

const [size, folder, questionCount = 100] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });

const files = Object.fromEntries(
  Object.keys(TABLES).map((table) => [table, createFile(path.join(folder, `${table}.copy`))]),
);
for (const file of Object.values(files)) file.write(HEADER);
const collect = createCollector(Number(size), Number(questionCount));
for (const [table, row] of tableRows(Number(size), collect)) files[table].write(row);
for (const file of Object.values(files)) {
  file.write(TRAILER);
  file.end();
}
const document = { tables: TABLES, questions: collect(), commonWords: commonWords() };
writeFileSync(path.join(folder, "corpus.json"), JSON.stringify(document));

/** A file that is written a megabyte at a time: one call of the system for each of eleven million rows takes minutes. */
function createFile(name) {
  const descriptor = openSync(name, "w");
  const buffer = Buffer.alloc(1 << 20);
  let used = 0;
  const flush = () => {
    for (let start = 0; start < used;) start += writeSync(descriptor, buffer, start, used - start);
    used = 0;
  };
  return {
    write(/** @type {Buffer} */ row) {
      if (used + row.length > buffer.length) flush();
      used += row.copy(buffer, used);
    },
    end() {
      flush();
      closeSync(descriptor);
    },
  };
}

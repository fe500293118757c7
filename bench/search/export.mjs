// Writes the corpus of `corpus.mjs` for programs in other languages: one binary COPY file per table, and questions.
//
//   node bench/search/export.mjs CHUNKS FOLDER [QUESTIONS]
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { commonWords } from "./corpus.mjs";
import { TABLES, createCollector, tableRows } from "./tables.mjs";
import { HEADER, TRAILER } from "./copy-binary.mjs";

const [size, folder, questionCount = 100] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const files = Object.fromEntries(
  Object.keys(TABLES).map((table) => [table, createWriteStream(path.join(folder, `${table}.copy`))]),
);
for (const file of Object.values(files)) file.write(HEADER);
const collect = createCollector(Number(size), Number(questionCount));
for (const [table, row] of tableRows(Number(size), collect)) {
  if (!files[table].write(row)) await once(files[table], "drain");
}
for (const file of Object.values(files)) {
  file.end(TRAILER);
  await once(file, "finish");
}
const document = { tables: TABLES, questions: collect(), commonWords: commonWords() };
await writeFile(path.join(folder, "corpus.json"), JSON.stringify(document));

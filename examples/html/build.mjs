// Copies the page, and the files of the packages that it loads, to dist/: any web server can serve that folder.
import { copyFile, cp, mkdir, readdir } from "node:fs/promises";

const PACKAGES = "node_modules/@evidence-chat";
const FOLDER = "dist/evidence-chat";

await mkdir(FOLDER, { recursive: true });
await copyFile("index.html", "dist/index.html");
await cp(`${PACKAGES}/widget/dist`, FOLDER, { recursive: true, filter: (path) => !/\.map$|\/types$/.test(path) });
for (const name of await readdir(`${PACKAGES}/embedder/dist`))
  if (name.includes(".safetensors")) await copyFile(`${PACKAGES}/embedder/dist/${name}`, `${FOLDER}/${name}`);

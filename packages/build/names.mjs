// Prints the names of all npm packages of a release, each after those that it depends on: `node packages/build/names.mjs`.
import { packageOf, PLATFORMS } from "../kb/platforms.mjs";
import { PACKAGES } from "./stage.mjs";

const LIBRARIES = [
  ...["@evidence-chat/embedder", "@evidence-chat/writer", "@evidence-chat/widget"],
  ...["@evidence-chat/docusaurus", "@evidence-chat/starlight", "@evidence-chat/vitepress"],
];

for (const name of [...LIBRARIES, ...PLATFORMS.map(({ key }) => packageOf(key)), ...Object.keys(PACKAGES)]) {
  console.log(name);
}

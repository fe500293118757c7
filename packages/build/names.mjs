// Prints the names of all npm packages of a release, each after its dependencies: `node packages/build/names.mjs`.
import { packageOf, PLATFORMS } from "../evidence-chat/src/kb/platforms.mjs";
import { PACKAGES } from "./stage.mjs";

const LIBRARIES = [
  ...["@evidence-chat/embedder", "@evidence-chat/writer", "@evidence-chat/widget"],
  ...["@evidence-chat/docusaurus", "@evidence-chat/starlight", "@evidence-chat/vitepress"],
];

for (const name of [...LIBRARIES, ...PLATFORMS.map(({ key }) => packageOf(key)), ...Object.keys(PACKAGES)]) {
  console.log(name);
}

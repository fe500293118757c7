// Imports every entry of the packages in a runtime of servers, and embeds a question there.

/** The programs, by the name of their npm package. */
export const RUNTIMES = {
  node: { versions: {}, command: ["node", "server.mjs"] },
  deno: { versions: { deno: "2.9.6" }, command: ["npx", "deno", "run", "--allow-all", "server.mjs"] },
  bun: { versions: { bun: "1.4.5" }, command: ["npx", "bun", "server.mjs"] },
};

const OTHERS = { react: "19.3.1", vue: "3.5.45" };

const SERVER = `
import { createEmbedder } from "@evidence-chat/embedder";
const entries = await Promise.all([
  import("@evidence-chat/widget"),
  import("@evidence-chat/widget/define"),
  import("@evidence-chat/widget/client"),
  import("@evidence-chat/widget/react"),
  import("@evidence-chat/widget/vue"),
  import("@evidence-chat/writer"),
]);
if (entries.some((entry) => Object.keys(entry).length === 0)) throw new Error("an entry has no exports");
const embedder = await createEmbedder();
const { vector } = await embedder.embed("How long does a refund take?");
if (vector.length !== 384) throw new Error(\`\${vector.length} numbers\`);
console.log("imported and embedded");
process.exit(0);
`;

/** Writes the project that imports everything. */
export async function writeServer(project, versions) {
  const manifest = { private: true, type: "module", dependencies: { ...OTHERS, ...versions } };
  await project.write({ "package.json": JSON.stringify(manifest), "server.mjs": SERVER });
}

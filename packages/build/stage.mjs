// Makes the folders that are packed and published from the sources of `packages/`: adds what other parts of the repository
// built, and the versions of dependencies, which other manifests pin.
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAssets } from "./assets.mjs";
import { packageOf, PLATFORMS } from "../evidence-chat/src/kb/platforms.mjs";
import { thirdPartyNotices } from "../../tools/third-party.mjs";
import { workerConfig } from "./wrangler-config.mjs";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const LICENSES = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/** Names of the packages and their folders. The packages of the platforms are published before them. */
export const PACKAGES = { "evidence-chat": "evidence-chat", "@evidence-chat/mcp": "mcp" };

const inRepository = (path) => join(REPOSITORY, path);
const readJson = async (path) => JSON.parse(await readFile(inRepository(path), "utf8"));

/**
 * Makes the folder of a package.
 * @param {keyof typeof PACKAGES} name
 * @param {string} folder that does not exist yet
 */
export async function stagePackage(name, folder) {
  const source = PACKAGES[name];
  const manifest = await readJson(`packages/${source}/package.json`);
  await mkdir(folder, { recursive: true });
  // npm packs the README, whatever the manifest lists.
  for (const file of ["README.md", ...manifest.files.filter((file) => !BUILT.has(file))]) {
    await cp(inRepository(`packages/${source}/${file}`), join(folder, file), { recursive: true });
  }
  await copyLicenses(folder);
  if (name === "evidence-chat") await completeProgram(folder, manifest);
  delete manifest.scripts;
  await writeManifest(folder, manifest);
}

/** Files that manifests list and `packages/` does not contain. */
const BUILT = new Set(["dist", "THIRD-PARTY.md", ...LICENSES]);

/**
 * Makes the folder of the package with the program for one platform.
 * @param {string} target the compiler's name of the platform
 * @param {string} binary path of the program
 * @param {string} folder that does not exist yet
 */
export async function stagePlatform(target, binary, folder) {
  const platform = PLATFORMS.find((known) => known.target === target);
  if (!platform) throw new Error(`no package is for ${target}`);
  const { version, license, homepage, bugs, repository, publishConfig, engines } = await readJson(
    "packages/evidence-chat/package.json",
  );
  const name = packageOf(platform.key);
  await mkdir(folder, { recursive: true });
  await copyFile(binary, join(folder, platform.program));
  await chmod(join(folder, platform.program), 0o755);
  await copyLicenses(folder);
  await writeFile(join(folder, "THIRD-PARTY.md"), await thirdPartyNotices(["kb"], target));
  await writeFile(
    join(folder, "README.md"),
    `# ${name}\n\nThe program \`kb\` of [Evidence Chat](${homepage}) for ${platform.key}. Install \`evidence-chat\`, which ` +
      "chooses the package of your platform.\n",
  );
  await writeManifest(folder, {
    name,
    version,
    description: `kb, the command line for the knowledge base of Evidence Chat, for ${platform.key}`,
    license,
    homepage,
    bugs,
    repository,
    publishConfig,
    type: "module",
    engines,
    preferUnplugged: true,
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc && { libc: [platform.libc] }),
    files: [platform.program, "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"],
  });
}

/** Adds the programs of the platforms, and in `dist/` what was built and copies of folders of the repository. */
async function completeProgram(folder, manifest) {
  // The platform packages are not on the registry before the first release, so the source manifest cannot name them.
  manifest.optionalDependencies = Object.fromEntries(PLATFORMS.map(({ key }) => [packageOf(key), manifest.version]));
  await writeFile(join(folder, "THIRD-PARTY.md"), await thirdPartyNotices(["edge-chat"], "wasm32-unknown-unknown"));
  const dist = join(folder, "dist");
  await stageWorker(join(dist, "edge-chat"));
  await writeFile(join(dist, "wrangler.toml"), workerConfig(await readFile(inRepository("wrangler.toml"), "utf8")));
  for (const path of ["supabase/migrations", "supabase/seed.sql", "supabase/sample-kb"])
    await copyTree(path, join(dist, path));
  for (const path of ["package.json", "supabase", "worker"]) await copyTree(`local/${path}`, join(dist, "local", path));
  await copyModule("web/demo/serve.mjs", dist);
  for (const page of ["demo", "insights"]) {
    await copyTree(`web/dist/${page}`, join(dist, "web/dist", page), (path) => !path.endsWith(".map"));
  }
}

async function stageWorker(folder) {
  await copyTree("edge-chat/build", join(folder, "build"), (path) => /\.(m?js|wasm)$|\/worker$|build$/.test(path));
  const assets = join(folder, "assets");
  await buildAssets(assets);
  for (const name of await readdir(assets, { recursive: true })) {
    // Model and reader are in the embedder's package alone.
    if (/\.(map|safetensors\.gz(\.piece\d+)?)$/.test(name)) await rm(join(assets, name));
  }
}

/** Copies a module and the files that it imports. */
async function copyModule(path, to) {
  await copyTree(path, join(to, path));
  const text = await readFile(inRepository(path), "utf8");
  for (const [, name] of text.matchAll(/^import .*"(\.\.?\/[\w./-]+\.mjs)";$/gm))
    await copyModule(join(dirname(path), name), to);
}

async function copyTree(from, to, filter = () => true) {
  await mkdir(dirname(to), { recursive: true });
  await cp(inRepository(from), to, { recursive: true, filter });
}

async function copyLicenses(folder) {
  for (const name of LICENSES) await copyFile(inRepository(name), join(folder, name));
}

async function writeManifest(folder, manifest) {
  await writeFile(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

// Makes the folders that are packed and published from the sources of `packages/`: adds what other parts of the repository
// built, and the versions of dependencies, which other manifests pin.
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildAssets } from "./assets.mjs";
import { packageOf, PLATFORMS } from "../kb/platforms.mjs";
import { thirdPartyNotices } from "../../tools/third-party.mjs";
import { workerConfig } from "./wrangler-config.mjs";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));
const LICENSES = ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT"];

/** The packages in the order of their publication, each after what it depends on. Those of the platforms come first. */
export const PACKAGES = {
  "@evidence-chat/kb": { folder: "kb", complete: stageKb },
  "@evidence-chat/mcp": { folder: "mcp", complete: async () => {} },
  "@evidence-chat/worker": { folder: "worker", complete: stageWorker },
  "create-evidence-chat": { folder: "create-evidence-chat", complete: stageCreate },
  "evidence-chat": { folder: "evidence-chat", complete: stageDemo },
};

const inRepository = (path) => join(REPOSITORY, path);
const readJson = async (path) => JSON.parse(await readFile(inRepository(path), "utf8"));

/**
 * Makes the folder of a package.
 * @param {keyof typeof PACKAGES} name
 * @param {string} folder that does not exist yet
 */
export async function stagePackage(name, folder) {
  const { folder: source, complete } = PACKAGES[name];
  const manifest = await readJson(`packages/${source}/package.json`);
  await mkdir(folder, { recursive: true });
  // npm packs the README, whatever the manifest lists.
  for (const file of ["README.md", ...manifest.files.filter((file) => !BUILT.has(file))]) {
    await cp(inRepository(`packages/${source}/${file}`), join(folder, file), { recursive: true });
  }
  await copyLicenses(folder);
  await complete(folder, manifest);
  delete manifest.scripts;
  await writeManifest(folder, manifest);
}

/** Files in manifests that are not in `packages/`. */
const BUILT = new Set(["assets", "build", "dist", ...LICENSES]);

/**
 * Makes the folder of the package with the program for one platform.
 * @param {string} target the compiler's name of the platform
 * @param {string} binary path of the program
 * @param {string} folder that does not exist yet
 */
export async function stagePlatform(target, binary, folder) {
  const platform = PLATFORMS.find((known) => known.target === target);
  if (!platform) throw new Error(`no package is for ${target}`);
  const { version, license, homepage, bugs, repository, publishConfig, engines } =
    await readJson("packages/kb/package.json");
  const name = packageOf(platform.key);
  await mkdir(folder, { recursive: true });
  await copyFile(binary, join(folder, platform.program));
  await chmod(join(folder, platform.program), 0o755);
  await copyLicenses(folder);
  await writeFile(join(folder, "THIRD-PARTY.md"), await thirdPartyNotices(["kb"], target));
  await writeFile(
    join(folder, "README.md"),
    `# ${name}\n\nThe program \`kb\` of [Evidence Chat](${homepage}) for ${platform.key}. Install \`@evidence-chat/kb\`, which ` +
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

/** The platform packages are not on the registry before the first release, so the source manifest cannot name them. */
async function stageKb(_folder, manifest) {
  manifest.optionalDependencies = Object.fromEntries(PLATFORMS.map(({ key }) => [packageOf(key), manifest.version]));
}

async function stageWorker(folder, manifest) {
  await copyTree("edge-chat/build", join(folder, "build"), (path) => /\.(m?js|wasm)$|\/worker$|build$/.test(path));
  const assets = join(folder, "assets");
  await buildAssets(assets);
  for (const name of await readdir(assets, { recursive: true })) {
    // Model and reader are in the embedder's package alone.
    if (/\.(map|safetensors\.gz(\.piece\d+)?)$/.test(name)) await rm(join(assets, name));
  }
  await writeFile(join(folder, "wrangler.toml"), workerConfig(await readFile(inRepository("wrangler.toml"), "utf8")));
  await writeFile(join(folder, "THIRD-PARTY.md"), await thirdPartyNotices(["edge-chat"], "wasm32-unknown-unknown"));
  manifest.files.push("wrangler.toml", "THIRD-PARTY.md");
  const { devDependencies } = await readJson("local/package.json");
  manifest.dependencies.wrangler = devDependencies.wrangler;
}

async function stageCreate(folder) {
  await copySchema(join(folder, "dist/supabase"));
  await writeFile(
    join(folder, "dist/wrangler.toml"),
    workerConfig(await readFile(inRepository("wrangler.toml"), "utf8")),
  );
  await writeFile(join(folder, "dist/versions.json"), `${JSON.stringify(await versions(), null, 2)}\n`);
}

/** Versions that a new project pins. */
async function versions() {
  const { devDependencies } = await readJson("local/package.json");
  const { version } = await readJson("packages/worker/package.json");
  return { "@evidence-chat/kb": version, "@evidence-chat/worker": version, wrangler: devDependencies.wrangler };
}

/** The local servers, in the folders that they have in the repository. */
async function stageDemo(folder, manifest) {
  const dist = join(folder, "dist");
  await copySchema(join(dist, "supabase"));
  await copyTree("supabase/sample-kb", join(dist, "supabase/sample-kb"));
  for (const path of ["local/supabase", "local/worker"]) await copyTree(path, join(dist, path));
  await copyModule("web/demo/serve.mjs", dist);
  for (const page of ["demo", "insights"]) {
    await copyTree(`web/dist/${page}`, join(dist, "web/dist", page), (path) => !path.endsWith(".map"));
  }
  const config = await readFile(inRepository("wrangler.toml"), "utf8");
  await writeFile(join(dist, "wrangler.toml"), config.replace(/^\[build\]\n(?:\w.*\n)*\n?/m, ""));
  const { dependencies, devDependencies } = await readJson("local/package.json");
  const { miniflare, wrangler } = devDependencies;
  Object.assign(manifest.dependencies, dependencies, { miniflare, wrangler });
}

/** Copies a module and the files that it imports. */
async function copyModule(path, to) {
  await copyTree(path, join(to, path));
  const text = await readFile(inRepository(path), "utf8");
  for (const [, name] of text.matchAll(/^import .*"(\.\.?\/[\w./-]+\.mjs)";$/gm))
    await copyModule(join(dirname(path), name), to);
}

async function copySchema(folder) {
  await copyTree("supabase/migrations", join(folder, "migrations"));
  await copyFile(inRepository("supabase/seed.sql"), join(folder, "seed.sql"));
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

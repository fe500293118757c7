// A clone compiles only what has changed since the last one, and never runs what was compiled from other sources. Real cargo.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../lib/demo.mjs";

const SCRIPT = fileURLToPath(new URL("../../.ci/keep-compiled", import.meta.url));
const LINUX = { skip: process.platform !== "linux" && "platform: elsewhere everything is compiled again" };
const run = promisify(execFile);

/** A repository with a library and a program that prints what the library says, and clones of it at the same path. */
class Project {
  #origin;
  #clone;
  #env;

  static async create(t) {
    const project = new Project();
    const folder = await temporaryFolder(t);
    project.#origin = join(folder, "origin");
    project.#clone = join(folder, "clone");
    project.#env = { ...process.env, CARGO_TARGET_DIR: join(folder, "target") };
    const write = (name, text) => writeFile(join(project.#origin, name), text);
    for (const crate of ["says", "prints"]) await mkdir(join(project.#origin, crate, "src"), { recursive: true });
    const manifest = (name) => `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2024"\n`;
    await write("Cargo.toml", '[workspace]\nmembers = ["says", "prints"]\nresolver = "3"\n');
    await write("says/Cargo.toml", manifest("says"));
    await write("prints/Cargo.toml", `${manifest("prints")}[dependencies]\nsays = { path = "../says" }\n`);
    await write("prints/src/main.rs", 'fn main() { println!("says {}", says::what()) }\n');
    await run("git", ["init", "--quiet"], { cwd: project.#origin });
    return project;
  }

  /** The commit in which the library says that. */
  async commit(what) {
    await writeFile(join(this.#origin, "says/src/lib.rs"), `pub fn what() -> u32 { ${what} }\n`);
    const author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
    await run("git", ["add", "."], { cwd: this.#origin });
    await run("git", [...author, "commit", "--quiet", "--message", String(what)], { cwd: this.#origin });
    return (await run("git", ["rev-parse", "HEAD"], { cwd: this.#origin })).stdout.trim();
  }

  async clone(commit, folder = this.#clone) {
    await rm(folder, { recursive: true, force: true });
    await run("git", ["clone", "--quiet", this.#origin, folder]);
    await run("git", ["checkout", "--quiet", commit], { cwd: folder });
  }

  change(what) {
    return writeFile(join(this.#clone, "says/src/lib.rs"), `pub fn what() -> u32 { ${what} }\n`);
  }

  /** What the program prints, the crates that were compiled for it, and the exit code. */
  async build({ script = [SCRIPT], command = "cargo run --offline", cwd = this.#clone } = {}) {
    const [program, ...given] = [...script, "sh", "-c", command];
    const { stdout, stderr, code = 0 } = await run(program, given, { cwd, env: this.#env }).catch((error) => error);
    return { says: stdout.trim(), compiled: [...stderr.matchAll(/Compiling (\w+)/g)].map(([, crate]) => crate), code };
  }

  /** The path of another clone. */
  get other() {
    return `${this.#clone}-other`;
  }
}

const ALL = ["says", "prints"];

test("a clone compiles what has changed since the last one", LINUX, async (t) => {
  const project = await Project.create(t);
  const [one, two] = [await project.commit(1), await project.commit(2)];
  const broken = await project.commit("unknown");
  for (const [commit, says, compiled] of [
    [one, "says 1", ALL],
    [one, "says 1", []],
    [two, "says 2", ALL],
    [one, "says 1", ALL],
    [broken, "", ["says"]],
    [one, "says 1", ALL],
    [one, "says 1", []],
  ]) {
    await project.clone(commit);
    const built = await project.build();
    assert.deepEqual(built, { says, compiled, code: says === "" ? 101 : 0 });
  }
});

for (const [name, compileOther] of Object.entries({
  "in another clone without the script": async (project, two) => {
    await project.clone(two, project.other);
    return project.build({ script: [], cwd: project.other });
  },
  "in another clone with the script": async (project, two) => {
    await project.clone(two, project.other);
    return project.build({ cwd: project.other });
  },
  "from a changed work tree": async (project) => {
    await project.change(2);
    return project.build();
  },
  "from a change during the run": async (project) => {
    const lib = "says/src/lib.rs";
    return project.build({ command: `cp ${lib} kept; sed -i s/1/2/ ${lib}; cargo run --offline; cp kept ${lib}` });
  },
})) {
  test(`what was compiled ${name} is compiled again`, LINUX, async (t) => {
    const project = await Project.create(t);
    const [one, two] = [await project.commit(1), await project.commit(2)];
    await project.clone(one);
    assert.equal((await project.build()).says, "says 1");
    assert.equal((await compileOther(project, two)).says, "says 2");
    await project.clone(one);
    assert.deepEqual(await project.build(), { says: "says 1", compiled: ALL, code: 0 });
  });
}

test("a clone that is older than what was compiled elsewhere is compiled again", LINUX, async (t) => {
  const project = await Project.create(t);
  const [one, two] = [await project.commit(1), await project.commit(2)];
  await project.clone(one, project.other);
  await project.clone(two);
  assert.equal((await project.build()).says, "says 2");
  assert.equal((await project.build({ cwd: project.other })).says, "says 1");
});

test("two runs at once wait for each other", LINUX, async (t) => {
  const project = await Project.create(t);
  const [one, two] = [await project.commit(1), await project.commit(2)];
  await project.clone(one);
  await project.clone(two, project.other);
  const ended = [];
  const build = (options) => project.build(options).finally(() => ended.push(options.cwd));
  const both = await Promise.all([build({}), build({ cwd: project.other })]);
  assert.deepEqual(
    both.map(({ says }) => says),
    ["says 1", "says 2"],
  );
  // Either may get the lock first.
  const compiled = ended.at(-1) === project.other ? ALL : [];
  assert.deepEqual(await project.build(), { says: "says 1", compiled, code: 0 });
});

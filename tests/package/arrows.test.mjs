// The arrows between rooms in ARCHITECTURE.md are those of the code: crates, npm packages and imports of files.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (file) => readFileSync(path.join(ROOT, file), "utf8");
const NOT_PRODUCT = /(^|\/)(tests?|bench|benches|fuzz|fixtures)\/|\.(test|bench)\.\w+$|\.d\.ts$/;

/** room → the rooms that it may use, from the diagram. */
function diagram() {
  const block = /## Rooms\n[^]*?```\n([^]*?)```/.exec(read("ARCHITECTURE.md"))?.[1] ?? "";
  const lines = block.split("\n").filter((line) => line.trim() !== "");
  return new Map(
    lines.map((line) => {
      const [room, targets = ""] = line.split("──▶").map((part) => part.trim());
      return [
        room,
        targets
          .split(",")
          .map((name) => name.trim())
          .filter((name) => name !== ""),
      ];
    }),
  );
}

const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "" && !NOT_PRODUCT.test(file));
const allowed = diagram();
const rooms = [...allowed.keys()].sort((a, b) => b.length - a.length);
const roomOf = (file) => rooms.find((room) => file === room || file.startsWith(`${room}/`));

/** Every use of one room by another, with a file that shows it. */
function uses() {
  const found = new Map();
  const note = (file, target) => {
    const [from, to] = [roomOf(file), roomOf(target)];
    if (from && to && from !== to) found.set(`${from} ──▶ ${to}`, file);
  };
  const manifests = files
    .filter((file) => path.basename(file) === "package.json")
    .map((file) => [file, JSON.parse(read(file))]);
  const packages = new Map(manifests.map(([file, { name }]) => [name, path.dirname(file)]));
  for (const file of files.filter((name) => /\.(m?[jt]s|tsx|vue|svelte|astro)$/.test(name))) {
    for (const [, specifier] of read(file).matchAll(/(?:from|import|import\()\s*["']([^"']+)["']/g)) {
      const target = path.posix.join(path.dirname(file), specifier);
      if (specifier.startsWith(".")) note(file, files.includes(target) ? target : target.replace(/\.js$/, ".ts"));
      const name = specifier.split("/").slice(0, 2).join("/");
      if (packages.has(name)) note(file, packages.get(name));
    }
  }
  const members = new Map(
    [...read("Cargo.toml").matchAll(/^([\w-]+) = \{ path = "([^"]+)"/gm)].map(([, name, folder]) => [name, folder]),
  );
  for (const file of files.filter((name) => path.basename(name) === "Cargo.toml")) {
    const dependencies = /\[dependencies\]\n([^]*?)(\n\[|$)/.exec(read(file))?.[1] ?? "";
    for (const [, name, folder] of dependencies.matchAll(
      /^([\w-]+)(?:\.workspace = true| = \{.*?(?:path = "([^"]+)")?.*\})/gm,
    )) {
      const target = folder ? path.posix.join(path.dirname(file), folder) : members.get(name);
      if (target) note(file, target);
    }
  }
  return found;
}

test("the code uses other rooms along the arrows of ARCHITECTURE.md, and there is no arrow that it does not use", () => {
  const drawn = new Set([...allowed].flatMap(([room, targets]) => targets.map((target) => `${room} ──▶ ${target}`)));
  const found = uses();
  const wrong = [...found].filter(([arrow]) => !drawn.has(arrow)).map(([arrow, file]) => `${arrow} (${file})`);
  const unused = [...drawn].filter((arrow) => !found.has(arrow));
  assert.deepEqual({ wrong, unused }, { wrong: [], unused: [] });
});

test("the arrows between rooms have no circle", () => {
  const left = new Map(allowed);
  for (let size = -1; size !== left.size;) {
    size = left.size;
    for (const [room, targets] of left) if (targets.every((target) => !left.has(target))) left.delete(room);
  }
  assert.deepEqual([...left.keys()], []);
});

test("every file of the product is in a room", () => {
  const code = files.filter((file) => file.includes("/") && /\.(rs|m?[jt]s|tsx|sql|css|html)$/.test(file));
  assert.deepEqual(
    code.filter((file) => !roomOf(file) && !/^(examples|training|scripts|docs)\//.test(file)),
    [],
  );
});

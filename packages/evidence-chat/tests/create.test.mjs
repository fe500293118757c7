// The staged package.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { stagePackage } from "../../build/stage.mjs";
import { ask } from "../src/create/ask.mjs";
import { QUESTIONS } from "../src/create/questions.mjs";

const KEY = "sb_publishable_abcdefghijkl";
const PROJECT = [
  "--supabase-url",
  "https://abcdefgh.supabase.co",
  "--supabase-key",
  KEY,
  "--origin",
  "https://www.example.org",
];
const SECRETS = {
  "of the new kind": "sb_secret_abcdefghijkl",
  "of the old kind": `a.${Buffer.from('{"role":"service_role"}').toString("base64url")}.c`,
};

let folder, work;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "create-package-"));
  await stagePackage("evidence-chat", join(folder, "package"));
});
beforeEach(async () => {
  work = await mkdtemp(join(folder, "work-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const cli = (...args) => {
  const bin = join(folder, "package/bin.mjs");
  return spawnSync(process.execPath, [bin, "create", ...args], { cwd: work, encoding: "utf8", input: "" });
};
const read = (path) => readFile(join(work, path), "utf8");

test("writes a project with the answers, and all migrations", async () => {
  const { status, stdout, stderr } = cli("my-site", ...PROJECT, "--yes");
  assert.equal(status, 0, stderr);
  const config = await read("my-site/wrangler.toml");
  for (const line of [
    'name = "my-site"',
    'SUPABASE_URL = "https://abcdefgh.supabase.co"',
    `SUPABASE_PUBLISHABLE_KEY = "${KEY}"`,
    'CHAT_ALLOWED_ORIGINS = "https://www.example.org"',
  ]) {
    assert.ok(config.split("\n").includes(line), line);
  }
  assert.doesNotMatch(config, /^CHAT_ANONYMOUS/m);
  assert.doesNotMatch(config, /(?<!blob\/main\/)docs\//, "the project has no copy of the guides");
  // `supabase config push` would change the sign-in of the hosted project.
  const supabase = await read("my-site/supabase/config.toml");
  assert.match(supabase, /^project_id = "my-site"$/m);
  assert.deepEqual(supabase.match(/^\[.*\]$/gm), ["[db]", "[db.seed]"]);
  const migrations = await readdir(new URL("../../../supabase/migrations", import.meta.url));
  assert.deepEqual(await readdir(join(work, "my-site/supabase/migrations")), migrations);
  const { scripts, devDependencies } = JSON.parse(await read("my-site/package.json"));
  assert.match(scripts.sync, / sync documents$/);
  assert.match(scripts.kb, / --env-file-if-exists=\.env /, "a pipeline has variables and no .env");
  for (const version of Object.values(devDependencies)) assert.match(String(version), /^\d+\.\d+\.\d+$/);
  assert.match(await read("my-site/index.html"), /tokenProvider/);
  assert.match(stdout, /link --project-ref abcdefgh/);
});

test("the file for the secret key is readable by its owner only, ignored by git, and has no key yet", async () => {
  cli("my-site", ...PROJECT, "--yes");
  assert.equal((await stat(join(work, "my-site/.env"))).mode & 0o777, 0o600);
  assert.match(await read("my-site/.env"), /^SUPABASE_SECRET_KEY=$/m);
  assert.ok((await read("my-site/.gitignore")).split("\n").includes(".env"));
});

test("an anonymous chat needs no script of the page, and says what to turn on", async () => {
  const { stdout } = cli("my-site", ...PROJECT, "--visitors", "anonymous", "--yes");
  assert.doesNotMatch(await read("my-site/index.html"), /tokenProvider|sb_publishable/);
  assert.match(await read("my-site/wrangler.toml"), /^CHAT_ANONYMOUS = "true"$/m);
  assert.match(stdout, /anonymous sign-ins.*\["role:authenticated"\]/);
  // With CAPTCHA protection and without the site key, no visitor could sign in.
  assert.match(stdout, /Attack Protection.*CHAT_TURNSTILE_SITE_KEY/);
});

test("overwrites nothing, and then writes nothing", async () => {
  await mkdir(join(work, "my-site"));
  await writeFile(join(work, "my-site/wrangler.toml"), "mine");
  const { status, stderr } = cli("my-site", ...PROJECT, "--yes");
  assert.equal(status, 1);
  assert.match(stderr, /already has wrangler\.toml: choose another folder/);
  assert.deepEqual(await readdir(join(work, "my-site")), ["wrangler.toml"]);
  assert.equal(await read("my-site/wrangler.toml"), "mine");
});

test("adds no document to a folder of documents that exists", async () => {
  await mkdir(join(work, "handbook"));
  assert.equal(cli("my-site", ...PROJECT, "--documents", "../handbook", "--yes").status, 0);
  assert.deepEqual(await readdir(join(work, "handbook")), []);
});

test("rejects a folder that is a file, and documents outside of the project that do not exist", async () => {
  await writeFile(join(work, "file"), "mine");
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [["file"], /file is a file: choose another folder/],
    [["file/below"], /^error: .*ENOTDIR/],
    [["my-site", "--documents", "../file"], /file is a file: name its folder/],
    [["my-site", "--documents", "../handbok"], /handbok does not exist\. .* relative to .*my-site/],
  ])) {
    const { status, stderr } = cli(...args, ...PROJECT, "--yes");
    assert.equal(status, 1);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /\n.*at /);
  }
  assert.deepEqual(await readdir(work), ["file"]);
});

test("names the options that are missing where nobody can be asked", () => {
  const { status, stderr } = cli("my-site", "--supabase-key", KEY);
  assert.equal(status, 1);
  assert.match(stderr, /^error: missing --supabase-url, --origin, --name, --visitors, --documents\n$/);
});

for (const [kind, secret] of Object.entries(SECRETS)) {
  test(`rejects a secret key ${kind} and does not print it`, async () => {
    const { status, stdout, stderr } = cli("my-site", ...PROJECT, "--supabase-key", secret, "--yes");
    assert.equal(status, 1);
    assert.match(stderr, /^error: --supabase-key: this is the (secret key|key of the role service_role)/);
    assert.ok(!(stdout + stderr).includes(secret));
    assert.deepEqual(await readdir(work), []);
  });
}

describe("the answers", () => {
  const parse = (option, text) => QUESTIONS.filter((question) => question.option === option)[0].parse(text);

  test("are normalised", () => {
    assert.equal(parse("supabase-url", "https://ABC.supabase.co/"), "https://abc.supabase.co");
    assert.equal(parse("supabase-url", "http://127.0.0.1:54321"), "http://127.0.0.1:54321");
    assert.equal(parse("origin", "https://a.example/, https://*.b.example"), "https://a.example,https://*.b.example");
    const anon = `a.${Buffer.from('{"role":"anon"}').toString("base64url")}.c`;
    assert.equal(parse("supabase-key", anon), anon);
    assert.equal(parse("documents", "..\\help pages"), "../help pages");
    assert.equal(parse("documents", "Prüfung/手册"), "Prüfung/手册");
  });

  /** @type {[string, string[]][]} */
  const wrong = [
    [
      "supabase-url",
      ["", "abc.supabase.co", "http://abc.supabase.co", "https://user:pw@abc.supabase.co", "https://a.co/x", "ftp://a"],
    ],
    ["supabase-key", ["", "abc", "sb_publishable_", 'sb_publishable_"\nname="x', "a.!!.c", "a.bnVsbA.c"]],
    ["origin", ["", "*", "www.example.com", "https://a/b", 'https://a"', "https://a,", "https://a\nb"]],
    ["name", ["", "My Site", "-a", "a-", "a".repeat(64), "a_b"]],
    ["visitors", ["", "all", "Anonymous"]],
    [
      "documents",
      ["", ".", "./", "-r", "/etc", "C:\\docs", "a;b", "$(x)", 'a"b', "a\nb", "node_modules", "./supabase/x"],
    ],
  ];
  for (const [option, texts] of wrong) {
    test(`reject a wrong --${option}`, () => {
      for (const text of texts) assert.throws(() => parse(option, text), { name: "UserError" }, JSON.stringify(text));
    });
  }

  test("are asked for in order, again after a wrong one, and Enter takes the default", async (t) => {
    const typed = ["nonsense", "https://a.supabase.co", KEY, "https://a.example", "", "", "handbook"];
    const asked = [];
    let isClosed = false;
    const terminal = /** @type {import("../src/create/ask.mjs").Terminal} */ ({
      question: (/** @type {string} */ text) => {
        asked.push(text);
        return Promise.resolve(typed[asked.length - 1]);
      },
      close: () => (isClosed = true),
    });
    const printed = t.mock.method(console, "log", () => {});
    const answers = await ask(QUESTIONS, {}, { folder: "/x/my-site" }, () => terminal);
    assert.deepEqual(answers, {
      "supabase-url": "https://a.supabase.co",
      "supabase-key": KEY,
      origin: "https://a.example",
      name: "my-site",
      visitors: "accounts",
      documents: "handbook",
    });
    assert.match(asked[4], /\[my-site\]: $/);
    assert.match(printed.mock.calls[0].arguments[0], /must be like https:/);
    assert.ok(isClosed);
  });

  test("name the Worker like the folder, if that is a name", async () => {
    const values = {
      yes: true,
      "supabase-url": "https://a.supabase.co",
      "supabase-key": KEY,
      origin: "https://a.example",
    };
    for (const [name, expected] of [
      ["/x/My Site!", "my-site"],
      ["/x/ÄÖ", "evidence-chat"],
      ["/", "evidence-chat"],
    ]) {
      assert.equal((await ask(QUESTIONS, values, { folder: name })).name, expected);
    }
  });
});

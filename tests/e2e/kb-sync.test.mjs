// `kb sync` with real components: folders, the storage bucket and a web site become evidence, and later syncs follow their
// changes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { answerText, ask, only } from "../lib/chat.mjs";
import { startDemoSuite } from "../lib/demo-suite.mjs";

const { data, demo } = await startDemoSuite({ isEmpty: true });

/** Writes files below a new folder of this name and returns its path. */
async function folder(name, files) {
  const path = join(data, name);
  await mkdir(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    await mkdir(join(path, file, ".."), { recursive: true });
    await writeFile(join(path, file), text);
  }
  return path;
}

/** Runs `kb sync` and returns its summary; every document must have been read unless failures are expected. */
async function sync(source, { code = 0, args = [] } = {}) {
  const run = await demo.kb("sync", source, "--json", ...args);
  assert.equal(run.code, code, run.stderr);
  return JSON.parse(run.stdout);
}

const documents = (collection) => demo.rest("GET", `kb_documents?collection=eq.${collection}&order=source`);

const stored = async (path) => {
  const response = await fetch(`${demo.info.supabase_url}/storage/v1/object/authenticated/kb/${path}`, {
    headers: demo.administrator(),
  });
  return response.ok ? Buffer.from(await response.arrayBuffer()) : null;
};

const counts = ({ added, changed, moved, removed, unchanged, failed }) => ({
  added,
  changed,
  moved,
  removed,
  unchanged,
  failed,
});
const NOTHING = { added: 0, changed: 0, moved: 0, removed: 0, unchanged: 0, failed: 0 };

async function answerTo(question, token) {
  const { events } = await ask(demo.info.chat_url, token ?? (await demo.newUser()), question);
  return { events, text: events.at(-1).event === "answer_end" ? answerText(events) : null };
}

test("a synced folder becomes evidence with its original files, and later syncs follow its changes", async () => {
  const path = await folder("lighthouse", {
    "keeper.md":
      "---\ntitle: The keeper\nurl: https://example.com/keeper\n---\n\nThe keeper of the lighthouse is Ada Brandt.\n",
    "deep/lamp.html":
      "<html lang=en><head><title>The lamp</title></head><body><main><h1>Lamp</h1><p>The lamp burns whale oil.</p></main></body></html>",
    "visits.csv": "Day,Hours\nMonday,closed\nTuesday,9 to 5\n",
    "notes.txt": "The tower has 212 steps.\n",
  });
  assert.deepEqual(counts(await sync(path)), { ...NOTHING, added: 4 });
  const { events, text } = await answerTo("Who is the keeper of the lighthouse?");
  assert.match(text, /Ada Brandt/);
  const [citation] = only(events, "sources").citations;
  assert.deepEqual([citation.title, citation.url], ["The keeper", "https://example.com/keeper"]);
  const first = await documents("lighthouse");
  assert.deepEqual(
    first.map(({ source, status }) => [source, status]),
    ["deep/lamp.html", "keeper.md", "notes.txt", "visits.csv"].map((name) => [`lighthouse/${name}`, "ready"]),
  );
  for (const { source, storage_path } of first) {
    assert.deepEqual(await stored(storage_path), await readFile(join(data, source)));
  }

  assert.deepEqual(counts(await sync(path)), { ...NOTHING, unchanged: 4 });

  await rename(join(path, "notes.txt"), join(path, "tower.txt"));
  await writeFile(join(path, "keeper.md"), "The keeper of the lighthouse is Bela Kovacs.\n");
  await rm(join(path, "visits.csv"));
  assert.deepEqual(counts(await sync(path)), { ...NOTHING, changed: 1, moved: 1, removed: 1, unchanged: 1 });
  const second = await documents("lighthouse");
  const id = (rows, name) => rows.find(({ source }) => source === `lighthouse/${name}`)?.id;
  assert.equal(id(second, "tower.txt"), id(first, "notes.txt"));
  assert.equal(id(second, "keeper.md"), id(first, "keeper.md"));
  assert.equal(second.length, 3);
  const gone = first.filter(({ source }) => /keeper|visits/.test(source));
  for (const { storage_path } of gone) assert.equal(await stored(storage_path), null, "an original without a document");
  assert.match((await answerTo("Who is the keeper of the lighthouse?")).text, /Bela Kovacs/);
});

test("a dry run reports the changes and makes none", async () => {
  const path = await folder("plans", { "a.md": "The plan is to plant turnips.\n" });
  const summary = await sync(path, { args: ["--dry-run"] });
  assert.deepEqual(summary.plan, ["  add      plans/a.md"]);
  assert.deepEqual(await documents("plans"), []);
});

test("unreadable files are reported with a reason, and the others are ingested", async () => {
  const path = await folder("mixed", {
    "good.md": "The ferry leaves at noon.\n",
    "empty.md": "",
    "picture.pdf": Buffer.from("\x89PNG\r\n\x1a\n0000"),
    "broken.docx": "not a zip",
  });
  const summary = await sync(path, { code: 1 });
  assert.deepEqual(counts(summary), { ...NOTHING, added: 1, failed: 3 });
  for (const { source, outcome, reason } of summary.documents) {
    if (outcome === "failed") assert.ok(reason.length > 5, `${source}: ${reason}`);
  }
  const failed = (await documents("mixed")).filter(({ status }) => status === "failed");
  assert.equal(failed.length, 3);
  assert.ok(failed.every(({ failure }) => failure));
  await rm(join(path, "picture.pdf"));
  await rm(join(path, "broken.docx"));
  await rm(join(path, "empty.md"));
  await sync(path);
  assert.deepEqual(
    (await documents("mixed")).map(({ status }) => status),
    ["ready"],
  );
});

test("malicious files neither block the good ones nor use much memory", async (t) => {
  const path = join(data, "hostile");
  const made = spawn(process.env.HOSTILE_FILES_BINARY, [path], { stdio: ["ignore", "pipe", "inherit"] });
  let list = "";
  made.stdout.on("data", (chunk) => (list += chunk));
  assert.equal((await once(made, "close"))[0], 0);
  const files = [];
  for (const file of JSON.parse(list)) {
    const { size, isFile } = await lstat(join(path, file.name)).then(
      (stats) => ({ size: stats.size, isFile: stats.isFile() }),
      () => ({ size: 0, isFile: false }),
    );
    // Long texts are read, too (see the tests of kb/extract), but take minutes to embed.
    const isLong = ["text", "either"].includes(file.expected) && isFile && size > 50_000 && !file.question;
    if (isLong) await rm(join(path, file.name));
    else files.push(file);
  }
  assert.ok(files.length > 80, `${files.length} files`);

  const started = Date.now();
  const run = spawn(process.env.KB_BINARY, ["sync", path, "--json"], {
    env: demo.kbEnvironment(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  let stdout = "";
  run.stdout.on("data", (chunk) => (stdout += chunk));
  const closed = once(run, "close");
  let peakKib = 0;
  const readPeak = async () => {
    const status = await readFile(`/proc/${run.pid}/status`, "utf8").catch(() => "");
    peakKib = Math.max(peakKib, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  };
  const watch = setInterval(() => void readPeak(), 50);
  const [code] = await closed;
  clearInterval(watch);
  t.diagnostic(`${files.length} files, ${(Date.now() - started) / 1000} s, ${Math.round(peakKib / 1024)} MiB`);
  assert.equal(code, 1, "some files cannot be read");
  assert.ok(peakKib < 400 * 1024, `${peakKib} KiB`);

  const outcomes = new Map(
    JSON.parse(stdout).documents.map((entry) => [entry.source.replace(/^hostile\//, ""), entry]),
  );
  const wrong = [];
  for (const { name, expected, contains } of files) {
    const { outcome, reason } = outcomes.get(name) ?? {};
    // Links, pipes and folders are not documents, even with the extension of one.
    const isIgnored = outcome === undefined || (outcome === "skipped" && reason);
    const isRead = outcome === "added";
    const isRejected = outcome === "failed" && reason.length > 0;
    // Hidden files are ignored, and names that are not text cannot be stored.
    const hasUnusableName = (name.startsWith(".") && isIgnored) || (name.includes("\ufffd") && isRejected);
    const isAsExpected = {
      text: isRead || hasUnusableName,
      error: (isRejected && reason.includes(contains)) || isIgnored,
      either: isRead || isRejected || isIgnored,
      "unknown format": isIgnored,
    };
    if (!isAsExpected[expected]) wrong.push({ name, expected, contains, outcome, reason });
  }
  assert.deepEqual(wrong, []);

  // No document breaks the questions that find it: each gets its answer, which the history contains.
  const asked = files.filter(({ question }) => question);
  assert.ok(asked.length >= 10, `${asked.length} questions`);
  for (const { name, question, contains } of asked) {
    const { events, text } = await answerTo(question);
    assert.ok(text?.includes(contains), `${name}: ${text ?? JSON.stringify(events.at(-1))}`);
    assert.equal(only(events, "answer_end").persisted, true, name);
  }
});

/** Files with several passages each. */
function manyFiles(number) {
  const paragraph = (file, at) =>
    `## Part ${at}\n\n` +
    Array.from({ length: 12 }, (_, line) => `Machine ${file} has valve ${at} with screw number ${line}.`).join(" ");
  return Object.fromEntries(
    Array.from({ length: number }, (_, file) => [
      `file-${String(file).padStart(2, "0")}.md`,
      [0, 1, 2, 3].map((at) => paragraph(file, at)).join("\n\n"),
    ]),
  );
}

/** path → contents of the ready document's chunks, in order. */
async function contents(collection) {
  const rows = await demo.rest(
    "GET",
    `kb_documents?collection=eq.${collection}&status=eq.ready&order=source&select=source,kb_chunks(ordinal,content)`,
  );
  return Object.fromEntries(
    rows.map(({ source, kb_chunks }) => [
      source.slice(collection.length),
      kb_chunks.sort((a, b) => a.ordinal - b.ordinal).map(({ content }) => content),
    ]),
  );
}

/** Expires the lease, as a minute without renewal would. */
const expireLease = (collection) =>
  demo.rest("PATCH", `kb_syncs?collection=eq.${collection}`, { body: { renewed_at: "2020-01-01T00:00:00Z" } });

test("a run killed at any point leaves no partial state, and the next run continues", async (t) => {
  const files = manyFiles(24);
  const path = await folder("killed", files);
  await folder("whole", files);
  await sync(join(data, "whole"));
  const expected = await contents("whole");

  let seen = 0;
  for (const delay of [150, 700, 1200, 1800, 2500, 3500]) {
    const child = spawn(process.env.KB_BINARY, ["sync", path], { env: demo.kbEnvironment(), stdio: "ignore" });
    const ended = once(child, "exit");
    await Promise.race([sleep(delay), ended]);
    child.kill("SIGKILL");
    await ended;
    const visible = await contents("killed");
    for (const [name, chunks] of Object.entries(visible)) assert.deepEqual(chunks, expected[name], `${name} is whole`);
    assert.ok(Object.keys(visible).length >= seen, "finished documents stay");
    seen = Object.keys(visible).length;
    await expireLease("killed");
  }
  t.diagnostic(`${seen} of ${Object.keys(expected).length} documents were there after the last kill`);
  const summary = await sync(path);
  assert.equal(summary.added + summary.unchanged, Object.keys(expected).length);
  assert.ok(summary.unchanged >= seen);
  assert.deepEqual(await contents("killed"), expected);
  const rows = await documents("killed");
  assert.ok(rows.every(({ status }) => status === "ready"));
  for (const { storage_path } of rows) assert.ok(await stored(storage_path), storage_path);
});

test("two simultaneous runs process each document once", async () => {
  const files = manyFiles(8);
  const path = await folder("twice", files);
  const [first, second] = await Promise.all([sync(path), sync(path)]);
  assert.equal(first.added + second.added, 8);
  assert.equal(first.unchanged + second.unchanged, 8);
  assert.equal(Object.keys(await contents("twice")).length, 8);
  assert.ok((await documents("twice")).every(({ status }) => status === "ready"));
});

test("sync ingests files dropped into the bucket and never deletes them there", async () => {
  await demo.upload("menu.md", "The canteen serves dumplings on Fridays.\n", "text/markdown");
  await demo.upload("menus/drinks.txt", "The canteen serves elderflower juice.\n", "text/plain");
  await demo.upload("photo.png", "png", "image/png");
  assert.deepEqual(counts(await sync("bucket")), { ...NOTHING, added: 2 });
  const rows = await documents("bucket");
  assert.deepEqual(
    rows.map(({ source, storage_path }) => [source, storage_path]),
    [
      ["bucket/menu.md", "menu.md"],
      ["bucket/menus/drinks.txt", "menus/drinks.txt"],
    ],
  );
  assert.match((await answerTo("When does the canteen serve dumplings?")).text, /Fridays/);
  assert.deepEqual(counts(await sync("bucket")), { ...NOTHING, unchanged: 2 });

  await demo.upload("menu.md", "The canteen serves dumplings on Sundays.\n", "text/markdown");
  assert.deepEqual(counts(await sync("bucket")), { ...NOTHING, changed: 1, unchanged: 1 });
  const [changed] = await documents("bucket");
  assert.equal(changed.id, rows[0].id);
  assert.equal(changed.storage_path, "menu.md");
  assert.match((await answerTo("When does the canteen serve dumplings?")).text, /Sundays/);

  await demo.deleteFiles("menus/drinks.txt");
  assert.deepEqual(counts(await sync("bucket")), { ...NOTHING, removed: 1, unchanged: 1 });
  assert.ok(await stored("menu.md"));
});

test("a web site is read from its sitemap, within its robots.txt", async (t) => {
  const pages = {
    "/robots.txt": ["text/plain", "User-agent: *\nDisallow: /private/\n"],
    "/": ["text/html", "<title>Mill</title><main><p>The mill grinds rye.</p></main>"],
    "/guide.html": ["text/html", "<title>Guide</title><main><p>The miller sells flour on Wednesdays.</p></main>"],
    "/private/x.html": ["text/html", "<p>Secret recipe.</p>"],
  };
  const asked = [];
  const site = createServer((request, response) => {
    asked.push(request.url);
    if (request.url === "/sitemap.xml") {
      const entries = Object.keys(pages).filter((path) => path !== "/robots.txt");
      const locations = entries.map((path) => `<url><loc>${address}${path}</loc></url>`).join("");
      response.setHeader("content-type", "application/xml");
      return response.end(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations}</urlset>`);
    }
    const page = pages[request.url];
    if (!page) return response.writeHead(404).end();
    const etag = `"${page[1].length}"`;
    if (request.headers["if-none-match"] === etag) return response.writeHead(304).end();
    response.writeHead(200, { "content-type": page[0], etag }).end(page[1]);
  });
  site.listen(0, "127.0.0.1");
  await once(site, "listening");
  t.after(() => site.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (site.address());
  const address = `http://127.0.0.1:${port}`;

  const args = ["--collection", "mill"];
  const first = await sync(`${address}/sitemap.xml`, { code: 1, args });
  assert.deepEqual(counts(first), { ...NOTHING, added: 2, failed: 1 });
  assert.match(first.documents.find(({ outcome }) => outcome === "failed").reason, /robots/);
  assert.ok(!asked.includes("/private/x.html"));
  const { events, text } = await answerTo("When does the miller sell flour?");
  assert.match(text, /Wednesdays/);
  assert.equal(only(events, "sources").citations[0].url, `${address}/guide.html`);

  delete pages["/private/x.html"];
  assert.deepEqual(counts(await sync(`${address}/sitemap.xml`, { args })), { ...NOTHING, unchanged: 2 });
  pages["/guide.html"][1] = "<title>Guide</title><main><p>The miller sells flour on Thursdays only.</p></main>";
  delete pages["/"];
  assert.deepEqual(counts(await sync(`${address}/sitemap.xml`, { args })), { ...NOTHING, changed: 1, removed: 1 });
  assert.match((await answerTo("When does the miller sell flour?")).text, /Thursdays/);

  // The sitemap still lists this page.
  pages["/old.html"] = ["text/html", "<title>Old</title><main><p>The mill had a donkey.</p></main>"];
  assert.deepEqual(counts(await sync(`${address}/sitemap.xml`, { args })), { ...NOTHING, added: 1, unchanged: 1 });
  pages["/old.html"] = undefined;
  assert.deepEqual(counts(await sync(`${address}/sitemap.xml`, { args })), { ...NOTHING, removed: 1, unchanged: 1 });
});

/** The user's token with other claims, as a hook of Supabase Auth would give it. */
async function tokenWith(token, claims) {
  const { jwt_secret } = JSON.parse(await readFile(join(data, "keys.json"), "utf8"));
  const [head, payload] = token.split(".");
  const body = { ...JSON.parse(Buffer.from(payload, "base64url").toString()), ...claims };
  const unsigned = `${head}.${Buffer.from(JSON.stringify(body)).toString("base64url")}`;
  return `${unsigned}.${createHmac("sha256", jwt_secret).update(unsigned).digest("base64url")}`;
}

test("only the team of a restricted document finds it and sees it in the history", async () => {
  const path = await folder("payroll", {
    "bonus.md":
      "---\naudience: [team:finance]\n---\n\nThe yearly bonus of the harbour master is nine thousand crowns.\n",
  });
  await sync(path);
  const question = "How much is the yearly bonus of the harbour master?";
  const token = await demo.newUser();
  assert.equal((await answerTo(question, token)).text, null);
  const member = await tokenWith(token, { app_metadata: { team: ["sales", "finance"] } });
  const asked = await answerTo(question, member);
  assert.match(asked.text, /nine thousand/);
  const { session_id } = only(asked.events, "answer_start");
  const history = async (as) => {
    const response = await fetch(`${demo.info.worker_url}/api/sessions/${session_id}/messages`, {
      headers: { authorization: `Bearer ${as}` },
    });
    return JSON.stringify(await response.json());
  };
  assert.match(await history(member), /nine thousand/);
  assert.doesNotMatch(await history(token), /nine thousand/);
  const tokenWithOwnClaim = await tokenWith(token, { user_metadata: { team: "finance" } });
  assert.doesNotMatch(await history(tokenWithOwnClaim), /nine thousand/);
});

test("a passage edited in the dashboard is not found until it is embedded again, and keeps the edit", async () => {
  const path = await folder("edited", { "loom.md": "The loom weaves forty blankets.\n" });
  await sync(path);
  const question = "How many blankets does the loom weave?";
  assert.match((await answerTo(question)).text, /forty/);
  const [{ id }] = await documents("edited");
  await demo.rest("PATCH", `kb_chunks?document_id=eq.${id}`, { body: { content: "The loom weaves fifty blankets." } });
  assert.equal((await answerTo(question)).text, null);
  const summary = await sync(path);
  assert.deepEqual([summary.unchanged, summary.reembedded], [1, 1]);
  assert.match((await answerTo(question)).text, /fifty/);
});

/** Starts `kb watch` of the bucket. `ended` gives its exit code and its rounds, after `stop`. */
function startWatch(t) {
  const child = spawn(process.env.KB_BINARY, ["watch", "--interval", "5", "--json"], {
    env: demo.kbEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let rounds = "",
    errors = "";
  child.stdout.on("data", (chunk) => (rounds += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const closed = once(child, "close");
  return {
    async stop() {
      child.kill("SIGTERM");
      const [code] = await closed;
      const lines = rounds.trim().split("\n");
      return { code, errors, rounds: lines.map((line) => JSON.parse(line)) };
    },
  };
}

/** Asks until the answer contains the text. */
async function waitForAnswer(question, expected) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const { text, events } = await answerTo(question);
    if (text?.includes(expected)) return;
    assert.ok(Date.now() < deadline, `${expected}: ${text ?? JSON.stringify(events.at(-1))}`);
    await sleep(1000);
  }
}

test("kb watch serves what is dropped into the bucket or edited in the dashboard, without a command", async (t) => {
  const watch = startWatch(t);
  await demo.upload("boats.md", "The rowing boats are painted turquoise.\n", "text/markdown");
  await demo.upload("torn.pdf", "%PDF-1.7\ntorn", "application/pdf");
  await waitForAnswer("What colour are the rowing boats?", "turquoise");

  const [boats] = await demo.rest("GET", "kb_documents?source=eq.bucket/boats.md");
  await demo.rest("PATCH", `kb_chunks?document_id=eq.${boats.id}`, {
    body: { content: "The rowing boats are painted vermilion." },
  });
  await waitForAnswer("What colour are the rowing boats?", "vermilion");

  const report = async () => JSON.parse((await demo.kb("doctor", "--json")).stdout);
  const check = (checks) => checks.find((entry) => entry.check === "watch");
  const running = check((await report()).checks);
  assert.equal(running.level, "ok");
  assert.match(running.message, /^bucket on .+: last ran \d{4}-\d\d-\d\d \d\d:\d\d UTC$/);

  const { code, errors, rounds } = await watch.stop();
  assert.equal(code, 0, errors);
  assert.ok(rounds.some(({ reembedded }) => reembedded === 1));
  assert.ok(rounds.every(({ failures }) => failures.length === 0));
  assert.equal(errors.match(/torn\.pdf/g).length, 1, errors);
  assert.match(check((await report()).checks).message, /, stopped \d{4}-/);
});

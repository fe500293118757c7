// Original files of documents: access, headers, and the links of citations.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, headerOf, question, send } from "./support/client.mjs";
import { DOCUMENT_ID, passage, startUpstream, weakPassage } from "./support/upstream.mjs";
import { startTestWorker } from "./support/worker.mjs";

const WEEK_SECONDS = 7 * 24 * 60 * 60;
const NOWHERE = "d0000000-0000-4000-8000-00000000ffff";

let upstream;
const workers = {};

before(async () => {
  upstream = await startUpstream();
  for (const mode of ["none", "authenticated", "public"]) workers[mode] = await startTestWorker(upstream);
});

after(async () => {
  for (const worker of Object.values(workers)) await worker.close();
  upstream?.close();
});

/** The Worker that has only ever read this link mode, which the database has from now on. */
function workerIn(mode) {
  upstream.settings.link_mode = mode;
  return workers[mode];
}

const newUser = () => crypto.randomUUID();
const pathOf = (id) => `/api/documents/${id}/download`;
const download = (
  id,
  /** @type {import("./support/client.mjs").RequestOptions & { mode?: string }} */
  { mode = "authenticated", user = newUser(), ...options } = {},
) => send(workerIn(mode).url, pathOf(id), { user, ...options });

const CONTENT = "0123456789".repeat(10);
const addDocument = (fields = {}) => upstream.library.addDocument({ content: CONTENT, ...fields });

describe("download", () => {
  test("a download is the original file, fetched with the user's token", async () => {
    const user = newUser();
    const { id } = addDocument({ name: "refunds.txt" });
    const reply = await download(id, { user });
    assert.deepEqual([reply.status, reply.text], [200, CONTENT]);
    assert.match(headerOf(reply.headers, "content-type"), /^text\/plain\b/);
    assert.equal(reply.headers.get("cache-control"), "no-store");
    const [call] = upstream.callsOf(user, "storage/object");
    assert.equal(call.headers.apikey, "publishable-key");
  });

  test("downloads also work in public link mode", async () => {
    const { id } = addDocument();
    assert.equal((await download(id, { mode: "public" })).text, CONTENT);
  });

  test("a large file is downloaded unchanged", async () => {
    const content = Buffer.alloc(5 * 2 ** 20, "0123456789abcdef");
    const { id } = addDocument({ content });
    const reply = await download(id);
    assert.equal(reply.status, 200);
    assert.ok(reply.bytes.equals(content));
  });

  /** @type {Record<string, [range: string, status: number, text: string, contentRange: string | null]>} */
  const RANGES = {
    "the beginning": ["bytes=0-9", 206, "0123456789", "bytes 0-9/100"],
    "the rest": ["bytes=95-", 206, "56789", "bytes 95-99/100"],
    "the end": ["bytes=-5", 206, "56789", "bytes 95-99/100"],
    "more than there is": ["bytes=90-1000", 206, "0123456789", "bytes 90-99/100"],
    "an unknown unit": ["lines=1-2", 200, CONTENT, null],
  };
  for (const [name, [range, status, text, contentRange]] of Object.entries(RANGES)) {
    test(`a range is downloaded: ${name}`, async () => {
      const { id } = addDocument();
      const reply = await download(id, { headers: { range } });
      assert.deepEqual([reply.status, reply.text], [status, text]);
      assert.equal(reply.headers.get("content-range"), contentRange);
      assert.equal(reply.headers.get("content-length"), String(text.length));
      if (status === 206) assert.equal(reply.headers.get("accept-ranges"), "bytes");
    });
  }

  test("an unsatisfiable range returns 416 with the size", async () => {
    const { id } = addDocument();
    const reply = await download(id, { headers: { range: "bytes=100-" } });
    assertError(reply, 416, "invalid_request");
    assert.equal(reply.headers.get("content-range"), "bytes */100");
  });

  test("a download with a matching ETag returns 304", async () => {
    const { id } = addDocument();
    const first = await download(id);
    const etag = first.headers.get("etag");
    assert.ok(etag);
    const second = await download(id, { headers: { "if-none-match": etag } });
    assert.deepEqual([second.status, second.text], [304, ""]);
    const other = await download(id, { headers: { "if-none-match": '"other"' } });
    assert.equal(other.status, 200);
  });

  test("a range with an outdated If-Range returns the whole file", async () => {
    const { id } = addDocument();
    const etag = headerOf((await download(id)).headers, "etag");
    const part = await download(id, { headers: { range: "bytes=0-9", "if-range": etag } });
    assert.deepEqual([part.status, part.text], [206, "0123456789"]);
    const whole = await download(id, { headers: { range: "bytes=0-9", "if-range": '"other"' } });
    assert.deepEqual([whole.status, whole.text], [200, CONTENT]);
  });

  test("HEAD returns the headers without a body", async () => {
    const { id } = addDocument();
    const reply = await download(id, { method: "HEAD" });
    assert.deepEqual([reply.status, reply.text], [200, ""]);
    assert.match(headerOf(reply.headers, "content-type"), /^text\/plain\b/);
    assert.match(headerOf(reply.headers, "content-disposition"), /^attachment; /);
    assert.equal((await download(NOWHERE, { method: "HEAD" })).status, 404);
  });

  for (const type of ["text/html", ""]) {
    test(`the media type "${type}" is replaced by application/octet-stream`, async () => {
      const reply = await download(addDocument({ type }).id);
      assert.equal(reply.status, 200);
      assert.equal(reply.headers.get("content-type"), "application/octet-stream");
    });
  }

  test("a file name cannot add a header or leave Content-Disposition", async () => {
    const { status, headers } = await download(addDocument({ name: 'a"\r\nSet-Cookie: x=1.pdf' }).id);
    assert.equal(status, 200);
    const encoded = "a%22%0D%0ASet-Cookie%3A%20x%3D1.pdf";
    const expected = `attachment; filename="a___Set-Cookie: x=1.pdf"; filename*=UTF-8''${encoded}`;
    assert.equal(headers.get("content-disposition"), expected);
    assert.equal(headers.get("set-cookie"), null);
  });

  test("other headers of the storage are not forwarded", async () => {
    const user = newUser();
    const { id } = addDocument();
    upstream.behave(user, {
      "storage/object": () => ({
        text: "x",
        headers: {
          "content-type": "text/plain",
          "set-cookie": "session=1",
          "x-secret": "1",
          "content-encoding": "identity",
          "access-control-allow-origin": "*",
          "content-security-policy": "none",
          location: "https://evil.test/",
        },
      }),
    });
    const { headers } = await download(id, { user });
    for (const name of ["set-cookie", "x-secret", "location", "access-control-allow-origin"]) {
      assert.equal(headers.get(name), null, name);
    }
  });
});

describe("no download", () => {
  const cases = {
    "of an unknown document": () => NOWHERE,
    "of a document that is hidden": () => addDocument({ enabled: false }).id,
    "of a document that is not ready": () => addDocument({ status: "pending" }).id,
    "of a document without a file": () => addDocument({ storage_path: null }).id,
    "of a missing file": () => {
      const document = addDocument();
      upstream.library.removeFile(document.storage_path);
      return document.id;
    },
    "of a path that leaves the bucket": () => addDocument({ storage_path: "../other/secret.txt" }).id,
    "of a path with parent folders": () => addDocument({ storage_path: "a/../../kb/secret.txt" }).id,
    "of an empty path": () => addDocument({ storage_path: "" }).id,
  };
  const messages = new Set();
  for (const [name, make] of Object.entries(cases)) {
    test(`a download ${name} returns 404`, async () => {
      const reply = await download(make());
      assertError(reply, 404, "not_found");
      messages.add(reply.json.message);
      assert.equal(messages.size, 1, "all messages are equal");
    });
  }

  test("with link mode none a download returns 404 without a call to the storage", async () => {
    const user = newUser();
    assertError(await download(addDocument().id, { mode: "none", user }), 404, "not_found");
    assert.deepEqual(upstream.callsOf(user, "storage/object"), []);
  });

  test("a download that the storage rejects returns 404", async () => {
    for (const status of [400, 403, 404]) {
      const user = newUser();
      upstream.behave(user, { "storage/object": () => ({ status, body: { message: "secret" } }) });
      const reply = await download(addDocument().id, { user });
      assertError(reply, 404, "not_found");
      assert.ok(!reply.text.includes("secret"));
    }
  });

  test("a download without a token returns 401 in every link mode", async () => {
    const { id } = addDocument();
    for (const { url } of Object.values(workers)) {
      assertError(await send(url, pathOf(id)), 401, "unauthorized");
    }
  });
});

describe("links of citations", () => {
  const citationOf = ({ events }) => events.find(({ type }) => type === "sources").citations[0];
  const askIn = (mode, user) => ask(workerIn(mode).url, user, question());

  test("with link mode none a citation has no link", async () => {
    const user = newUser();
    assert.equal(citationOf(await askIn("none", user)).download_url, undefined);
    assert.deepEqual(upstream.callsOf(user, "rpc/chat_documents"), []);
  });

  test("with link mode authenticated a citation links to the Worker", async () => {
    const user = newUser();
    const { download_url: url } = citationOf(await askIn("authenticated", user));
    assert.equal(url, `${workers.authenticated.url}${pathOf(DOCUMENT_ID)}`);
    assert.equal((await download(DOCUMENT_ID)).status, 200);
    assert.deepEqual(upstream.callsOf(user, "storage/sign"), []);
  });

  test("with link mode public a citation has a signed URL that is valid for a week", async () => {
    const user = newUser();
    const { download_url: url } = citationOf(await askIn("public", user));
    assert.ok(url.startsWith(`${upstream.url}/storage/v1/object/sign/kb/`), url);
    assert.match(url, /\?token=/);
    const [call] = upstream.callsOf(user, "storage/sign");
    assert.equal(call.body.expiresIn, WEEK_SECONDS);
    assert.equal(call.body.paths.length, 1, "each file once");
  });

  test("a citation of a document without a file has no link", async () => {
    const { id } = addDocument({ storage_path: null });
    for (const mode of ["authenticated", "public"]) {
      const user = newUser();
      upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage({ document_id: id })] }) });
      assert.equal(citationOf(await askIn(mode, user)).download_url, undefined);
      assert.deepEqual(upstream.callsOf(user, "storage/sign"), []);
    }
  });

  test("a citation whose link cannot be signed is sent without a link", async () => {
    const user = newUser();
    const document = addDocument();
    upstream.library.removeFile(document.storage_path);
    upstream.behave(user, {
      "rpc/match_chunks": () => ({ body: [passage({ document_id: document.id })] }),
      "storage/sign": ({ body }) => ({ body: body.paths.map((path) => ({ path, error: "no", signedURL: null })) }),
    });
    assert.equal(citationOf(await askIn("public", user)).download_url, undefined);
  });

  test("a citation is stored without its link, which is created when the history is read", async () => {
    for (const mode of ["authenticated", "public"]) {
      const user = newUser();
      const { events } = await askIn(mode, user);
      const [, stored] = upstream.history.messagesOf(user);
      assert.equal(stored.citations[0].download_url, undefined, mode);
      const read = (worker) =>
        send(worker.url, `/api/sessions/${events[0].session_id}/messages`, { user }).then(
          ({ json }) => json.messages[1].citations[0],
        );
      assert.equal((await read(workerIn(mode))).download_url, citationOf({ events }).download_url);
      assert.equal((await read(workerIn("none"))).download_url, undefined);
    }
  });

  test("a citation of a document that was hidden later has no link in the history", async () => {
    const user = newUser();
    const document = addDocument();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage({ document_id: document.id })] }) });
    const { events } = await askIn("public", user);
    document.enabled = false;
    const path = `/api/sessions/${events[0].session_id}/messages`;
    for (const mode of ["authenticated", "public"]) {
      const { json } = await send(workerIn(mode).url, path, { user });
      const [citation] = json.messages[1].citations;
      assert.deepEqual([citation.available, citation.download_url], [false, undefined]);
    }
  });
});

describe("links of passages that are not quoted", () => {
  const other = () => addDocument();
  const rowOf = (document) => weakPassage({ document_id: document.id, meta: { section: "Elsewhere" } });

  for (const mode of ["authenticated", "public"]) {
    test(`passages that are not quoted get links with a single lookup, in link mode ${mode}`, async () => {
      const user = newUser();
      const document = other();
      upstream.behave(user, { "rpc/match_chunks": () => ({ body: [passage(), rowOf(document)] }) });
      const { events } = await ask(workerIn(mode).url, user, question());
      const { citations, also_found: found } = events.find(({ type }) => type === "sources");
      for (const { download_url: url, document_id: id } of [...citations, ...found]) assert.ok(url.includes(id), url);
      assert.deepEqual([citations.length, found.length], [1, 1]);
      assert.equal(upstream.callsOf(user, "rpc/chat_documents").length, 1);
    });

    test(`passages of a refusal get links, in link mode ${mode}`, async () => {
      const user = newUser();
      const document = other();
      upstream.behave(user, { "rpc/match_chunks": () => ({ body: [rowOf(document)] }) });
      const [refusal] = (await ask(workerIn(mode).url, user, question())).events;
      assert.equal(refusal.reason, "weak_evidence");
      assert.ok(refusal.nearest[0].download_url.includes(document.id));
    });
  }

  test("with link mode none passages get no links, without a lookup", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [weakPassage()] }) });
    const [refusal] = (await ask(workers.none.url, user, question())).events;
    assert.equal(refusal.nearest[0].download_url, undefined);
    assert.deepEqual(upstream.callsOf(user, "rpc/chat_documents"), []);
  });

  test("a passage is listed without a link if the lookup fails", async () => {
    const user = newUser();
    upstream.behave(user, {
      "rpc/match_chunks": () => ({ body: [weakPassage()] }),
      "rpc/chat_documents": () => ({ status: 500 }),
    });
    const [refusal] = (await ask(workers.authenticated.url, user, question())).events;
    assert.deepEqual([refusal.reason, refusal.nearest[0].title], ["weak_evidence", "Refunds"]);
    assert.equal(refusal.nearest[0].download_url, undefined);
  });
});

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";
import { as, user } from "../support/roles.mjs";

const STORAGE = "http://127.0.0.1/storage/v1";
const BYTES = randomBytes(1000);

/** Original files of documents: access, and HTTP requests for them. */
export function storageFiles({ fetch, database, keys, anon, alice, bob, service }) {
  const files = {};

  /**
   * @typedef {{ method?: string, token?: string, apikey?: string, headers?: Record<string, string>, body?: BodyInit }} Options
   */
  const send = (
    method,
    path,
    /** @type {Options} */ { token, apikey = keys.publishable_key, headers = {}, body } = {},
  ) =>
    fetch(
      new Request(STORAGE + path, {
        method,
        headers: { apikey, ...(token && { authorization: `Bearer ${token}` }), ...headers },
        body,
      }),
    );
  const upload = (path, body = BYTES, bucket = "kb") =>
    send("POST", `/object/${bucket}/${encodePath(path)}`, {
      apikey: keys.secret_key,
      headers: { "content-type": "application/pdf" },
      body,
    });
  const download = (path, /** @type {Options} */ options = { token: alice.token }) =>
    send(options.method ?? "GET", `/object/authenticated/kb/${encodePath(path)}`, options);
  const withFile = async (path, document = {}) => {
    assert.equal((await upload(path)).status, 200, path);
    const { id } = await writeDocument(database, document);
    await database.query("update kb_documents set storage_path = $1 where id = $2", [path, id]);
    return { id, path };
  };
  const assertHidden = async (response, title) => {
    assert.equal(response.status, 400, title);
    assert.equal((await response.json()).statusCode, "404", title);
  };

  const linkMode = (link_mode) => service.update("assistants", "name=eq.default", { link_mode });

  before(async () => {
    await linkMode("public");
    files.visible = await withFile("docs/visible.pdf");
    files.disabled = await withFile("docs/disabled.pdf", { enabled: false });
    files.pending = await withFile("docs/pending.pdf", { status: "pending" });
    files.failed = await withFile("docs/failed.pdf", { status: "failed" });
    await upload("docs/orphan.pdf");
  });
  after(async () => {
    await linkMode("none");
    await clearKnowledgeBase(database);
  });

  /** The operations that each link mode allows a user on the file of a document they see. */
  const allowed = {
    none: { get: false, head: false, sign: false, signMany: false, list: false },
    authenticated: { get: true, head: true, sign: false, signMany: false, list: false },
    public: { get: true, head: true, sign: true, signMany: true, list: false },
  };
  for (const [mode, expected] of Object.entries(allowed)) {
    test(`link mode ${mode} allows a user exactly its operations on a file`, async () => {
      await linkMode(mode);
      const post = (path, body) => alice.request("POST", `/storage/v1/object${path}`, body);
      const signed = await post("/sign/kb", { expiresIn: 60, paths: ["docs/visible.pdf"] });
      const listed = await post("/list/kb", { prefix: "docs", limit: 10 });
      const outcome = {
        get: (await download("docs/visible.pdf")).status === 200,
        head: (await download("docs/visible.pdf", { method: "HEAD", token: alice.token })).status === 200,
        sign: (await post("/sign/kb/docs/visible.pdf", { expiresIn: 60 })).status === 200,
        signMany: signed.body[0].signedURL !== null,
        list: listed.body.length > 0,
      };
      assert.deepEqual(outcome, expected);
      assert.equal((await download("docs/visible.pdf", { apikey: keys.secret_key })).status, 200, "the service role");
      await assertHidden(await download("docs/disabled.pdf"));
      await linkMode("public");
    });
  }

  test("other operations of Storage are rejected, and so is a request without an operation", async () => {
    const sees = (operation) =>
      as(database, user(alice.id), async (transaction) => {
        await transaction.query("select set_config('storage.operation', $1, true)", [operation]);
        const { rows } = await transaction.query("select name from storage.objects where name = 'docs/visible.pdf'");
        return rows.length === 1;
      });
    const allowed = [
      "object.get_authenticated",
      "storage.object.get_authenticated",
      "object.get_authenticated_info",
      "object.head_authenticated_info",
    ];
    for (const operation of allowed) {
      assert.equal(await sees(operation), true, operation);
    }
    const others = [
      "",
      "storage.object.list",
      "storage.object.list_v2",
      "storage.object.copy",
      "storage.object.move",
      "storage.object.sign_upload_url",
      "storage.object.upload_update",
      "storage.render.image_authenticated",
      "storage.s3.object.get",
      "storage.s3.object.list",
      "storage.s3.object.copy",
      "storage.tus.upload.get",
      "xstorage.object.sign",
    ];
    for (const operation of others) assert.equal(await sees(operation), false, operation);
  });

  test("the bucket kb exists and is private", async () => {
    const { body } = await service.request("GET", "/storage/v1/bucket/kb");
    assert.equal(body.public, false);
  });

  test("kb_health returns the total size of the files", async () => {
    const total = async () => (await service.rpc("kb_health", {})).body.storage_bytes;
    const before = await total();
    assert.ok(before >= 5 * BYTES.length);
    assert.equal((await upload("docs/large.pdf", randomBytes(123_456))).status, 200);
    assert.equal(await total(), before + 123_456);
  });

  test("a user downloads the file of a document they see", async () => {
    const response = await download("docs/visible.pdf");
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/pdf");
    assert.equal(response.headers.get("accept-ranges"), "bytes");
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), BYTES);
  });

  test("files of hidden documents and files without a document are not found", async () => {
    for (const name of ["disabled", "pending", "failed", "orphan", "missing"]) {
      await assertHidden(await download(`docs/${name}.pdf`), name);
    }
  });

  test("access to a file follows its document at once", async () => {
    const enable = (enabled) => service.update("kb_documents", `id=eq.${files.visible.id}`, { enabled });
    await enable(false);
    await assertHidden(await download("docs/visible.pdf"));
    await enable(true);
    assert.equal((await download("docs/visible.pdf")).status, 200);
  });

  test("only the exact path of a document opens its file", async () => {
    await upload("docs/visible.pdf.bak");
    await upload("docs/Visible.pdf");
    await upload("visible.pdf");
    await upload("docs");
    const { id } = await writeDocument(database, { name: "docs/orphan.pdf", source: "docs/orphan.pdf" });
    await database.query("update kb_documents set storage_path = 'docs/%' where id = $1", [id]);
    for (const path of ["docs/visible.pdf.bak", "docs/Visible.pdf", "visible.pdf", "docs", "docs/orphan.pdf"]) {
      await assertHidden(await download(path), path);
    }
    for (const path of ["docs//visible.pdf", "docs/visible.pdf/", "docs/disabled.pdf?x=docs/visible.pdf"]) {
      assert.ok((await download(path)).status >= 400, path);
    }
    const tricks = [
      "x/../docs/disabled.pdf",
      "x%2f..%2fdocs%2fdisabled.pdf",
      "docs%2Fdisabled.pdf",
      "..%2F..%2F_system",
    ];
    for (const path of tricks) {
      const response = await send("GET", `/object/authenticated/kb/${path}`, { token: alice.token });
      assert.ok(response.status >= 400, path);
    }
  });

  test("the path of a visible document in kb opens no file of another bucket", async () => {
    await database.query("insert into storage.buckets (id, name, public) values ('private', 'private', false)");
    assert.equal((await upload("docs/visible.pdf", BYTES, "private")).status, 200);
    const path = "/object/authenticated/private/docs/visible.pdf";
    await assertHidden(await send("GET", path, { token: alice.token }));
    assert.equal((await send("GET", path, { apikey: keys.secret_key })).status, 200);
  });

  test("two documents cannot share a file, but publishing moves it to the ready row", async () => {
    const taken = await service.update("kb_documents", `id=eq.${files.visible.id}`, {
      storage_path: files.disabled.path,
    });
    assert.match(taken.body.message, /kb_documents_storage_path_unique/);

    const source = `${randomUUID()}.md`;
    await writeDocument(database, { source });
    const next = await withFile("docs/next.pdf", { source, status: "pending" });
    await assertHidden(await download("docs/next.pdf"));
    const {
      body: { id },
    } = await service.rpc("kb_publish_document", { document_id: next.id });
    const [published] = (await service.select("kb_documents", `id=eq.${id}`)).body;
    assert.equal(published.storage_path, "docs/next.pdf");
    assert.equal((await download("docs/next.pdf")).status, 200);
  });

  test("without a token, with a forged one and as anon no file is read", async () => {
    for (const options of [{}, { token: `${alice.token}x` }, { apikey: "none" }]) {
      assert.ok((await download("docs/visible.pdf", options)).status >= 400);
    }
    const { rows } = await database.transaction(async (transaction) => {
      await transaction.exec("set local role anon");
      return transaction.query("select name from storage.objects");
    });
    assert.deepEqual(rows, []);
  });

  test("the service role reads every file", async () => {
    for (const name of ["visible", "disabled", "orphan"]) {
      assert.equal((await download(`docs/${name}.pdf`, { apikey: keys.secret_key })).status, 200);
    }
  });

  test("users cannot create, overwrite or delete files", async () => {
    const objects = () => database.query("select id, name, version, owner from storage.objects order by id");
    const before = await objects();
    for (const token of [alice.token, undefined]) {
      const options = { token, headers: { "content-type": "text/plain" }, body: "intruder" };
      const path = "/object/kb/docs/visible.pdf";
      assert.ok((await send("POST", "/object/kb/docs/new.pdf", options)).status >= 400);
      assert.ok((await send("PUT", path, options)).status >= 400);
      const upsert = { ...options, headers: { ...options.headers, "x-upsert": "true" } };
      assert.ok((await send("POST", path, upsert)).status >= 400);
      await send("DELETE", "/object/kb", {
        token,
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ prefixes: ["docs/visible.pdf"] }),
      });
      const move = { bucketId: "kb", sourceKey: "docs/visible.pdf", destinationKey: "docs/moved.pdf" };
      const headers = { "content-type": "application/json" };
      assert.ok((await send("POST", "/object/move", { token, headers, body: JSON.stringify(move) })).status >= 400);
    }
    assert.deepEqual((await objects()).rows, before.rows);
    const content = Buffer.from(await (await download("docs/visible.pdf")).arrayBuffer());
    assert.deepEqual(content, BYTES);
  });

  test("several files are signed at once, except those that the user cannot see", async () => {
    const paths = ["docs/visible.pdf", "docs/disabled.pdf", "docs/missing.pdf"];
    const { status, body } = await alice.request("POST", "/storage/v1/object/sign/kb", { expiresIn: 60, paths });
    assert.equal(status, 200);
    const error = "Either the object does not exist or you do not have access to it";
    assert.match(body[0].signedURL, /^\/object\/sign\/kb\/docs\/visible\.pdf\?token=[\w.-]+$/);
    assert.deepEqual(body, [
      { error: null, path: paths[0], signedURL: body[0].signedURL },
      { error, path: paths[1], signedURL: null },
      { error, path: paths[2], signedURL: null },
    ]);
    const opened = await fetch(new Request(STORAGE + body[0].signedURL));
    assert.deepEqual(Buffer.from(await opened.arrayBuffer()), BYTES);
    const other = body[0].signedURL.replace("visible", "disabled");
    assert.ok((await fetch(new Request(STORAGE + other))).status >= 400, "signed for another file");
    const asAnon = await anon.request("POST", "/storage/v1/object/sign/kb", { expiresIn: 60, paths });
    assert.deepEqual(
      asAnon.body.map(({ signedURL }) => signedURL),
      [null, null, null],
    );
  });

  test("a folder is listed with its files and the folders in it, by pages", async () => {
    for (const path of ["shelf/b.txt", "shelf/a.txt", "shelf/deep/c.txt", "shelf/deep/d/e.txt", "shelfish.txt"]) {
      assert.equal((await upload(path)).status, 200);
    }
    const list = async (body, role = service) => {
      const answer = await role.request("POST", "/storage/v1/object/list/kb", body);
      return answer.body.map(({ name, id, metadata }) => [name, id !== null, metadata?.size]);
    };
    const whole = [
      ["a.txt", true, 1000],
      ["b.txt", true, 1000],
      ["deep", false, undefined],
    ];
    assert.deepEqual(await list({ prefix: "shelf", limit: 10 }), whole);
    assert.deepEqual(await list({ prefix: "shelf/", limit: 1, offset: 1 }), [whole[1]]);
    assert.deepEqual(await list({ prefix: "shelf/deep/d", limit: 10 }), [["e.txt", true, 1000]]);
    const names = (await list({ prefix: "", limit: 1000 })).map(([name]) => name);
    assert.ok(names.includes("shelf") && names.includes("shelfish.txt") && !names.includes("shelf/a.txt"));
    assert.deepEqual(await list({ prefix: "shelf", limit: 10 }, alice), []);
  });

  test("no signed path leads out of the bucket", async () => {
    const paths = ["../kb/docs/visible.pdf", "../../../../../_system/info", "./docs/visible.pdf", ""];
    const { body } = await service.request("POST", "/storage/v1/object/sign/kb", { expiresIn: 60, paths });
    assert.deepEqual(
      body.map(({ signedURL }) => signedURL),
      [null, null, null, null],
    );
  });

  test("signing without paths is rejected", async () => {
    const bodies = [undefined, [], "docs/visible.pdf", [1]].map((paths) => ({ expiresIn: 60, paths }));
    for (const body of [...bodies, null, 1]) {
      assert.equal((await alice.request("POST", "/storage/v1/object/sign/kb", body)).status, 400);
    }
  });

  test("a file is signed for a user who can see it", async () => {
    const sign = (name) => bob.request("POST", `/storage/v1/object/sign/kb/docs/${name}.pdf`, { expiresIn: 60 });
    assert.match((await sign("visible")).body.signedURL, /^\/object\/sign\/kb\//);
    assert.equal((await sign("disabled")).status, 400);
  });

  test("a signed URL expires", async () => {
    const { body } = await alice.request("POST", "/storage/v1/object/sign/kb", {
      expiresIn: -1,
      paths: ["docs/visible.pdf"],
    });
    assert.ok((await fetch(new Request(STORAGE + body[0].signedURL))).status >= 400);
  });

  test("paths may contain spaces, accents and punctuation", async () => {
    for (const path of ["a b/Größe.pdf", "a+b,c;d=e:f@g$h&i (1)!.pdf"]) {
      await withFile(path);
      assert.equal((await download(path)).status, 200, path);
      const { body } = await alice.request("POST", "/storage/v1/object/sign/kb", { expiresIn: 60, paths: [path] });
      assert.equal((await fetch(new Request(encodeURI(STORAGE + body[0].signedURL)))).status, 200, path);
    }
  });

  const ranges = {
    "bytes=0-0": [0, 0],
    "bytes=10-19": [10, 19],
    "bytes=990-": [990, 999],
    "bytes=990-5000": [990, 999],
    "bytes=-10": [990, 999],
    "bytes=-5000": [0, 999],
    "Bytes=5-6": [5, 6],
  };
  for (const [range, [first, last]] of Object.entries(ranges)) {
    test(`range ${range} returns part of the file, also through a signed URL`, async () => {
      const { body } = await alice.request("POST", "/storage/v1/object/sign/kb/docs/visible.pdf", { expiresIn: 60 });
      for (const response of [
        await download("docs/visible.pdf", { token: alice.token, headers: { range } }),
        await fetch(new Request(STORAGE + body.signedURL, { headers: { range } })),
      ]) {
        assert.equal(response.status, 206);
        assert.equal(response.headers.get("content-range"), `bytes ${first}-${last}/1000`);
        assert.deepEqual(Buffer.from(await response.arrayBuffer()), BYTES.subarray(first, last + 1));
      }
    });
  }

  for (const range of ["bytes=1000-", "bytes=5000-6000", "bytes=-0"]) {
    test(`range ${range} is outside the file`, async () => {
      const response = await download("docs/visible.pdf", { token: alice.token, headers: { range } });
      assert.equal(response.status, 416);
      assert.equal(response.headers.get("content-range"), "bytes */1000");
    });
  }

  for (const range of ["bytes=-", "bytes=9-5", "bytes=0-1,5-6", "items=0-1", "bytes=a-b"]) {
    test(`range ${range} returns the whole file`, async () => {
      const response = await download("docs/visible.pdf", { token: alice.token, headers: { range } });
      assert.equal(response.status, 200);
      assert.equal((await response.arrayBuffer()).byteLength, 1000);
    });
  }

  test("a range opens no hidden file", async () => {
    const headers = { range: "bytes=0-9" };
    await assertHidden(await download("docs/disabled.pdf", { token: alice.token, headers }));
  });

  test("a file that the client has cached is not sent again", async () => {
    const etag = (await download("docs/visible.pdf")).headers.get("etag");
    const request = (value) =>
      download("docs/visible.pdf", { token: alice.token, headers: { "if-none-match": value } });
    const same = await request(etag);
    assert.equal(same.status, 304);
    assert.equal(await same.text(), "");
    assert.equal((await request('"other"')).status, 200);
  });

  test("HEAD has the headers of the file and follows the same rules", async () => {
    const response = await download("docs/visible.pdf", { method: "HEAD", token: alice.token });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-length"), "1000");
    assert.equal(response.headers.get("content-type"), "application/pdf");
    assert.equal(await response.text(), "");
    assert.equal((await download("docs/disabled.pdf", { method: "HEAD", token: alice.token })).status, 400);
  });
}

function encodePath(path) {
  return path.split("/").map(encodeURIComponent).join("/");
}

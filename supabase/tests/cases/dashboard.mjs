import assert from "node:assert/strict";
import { after, test } from "node:test";
import { clearKnowledgeBase, writeDocument } from "../support/knowledge-base.mjs";

const ORIGIN = "http://127.0.0.1:1234";
const PASSWORD = "correct-horse";
const TABLE = "/rest/v1/kb_documents?select=id";

/** The dashboard gives the rights of the service role to anyone who opened it with the password, and nothing to others. */
export function dashboard({ fetch, database, keys, dashboard: createDashboard }) {
  after(() => clearKnowledgeBase(database));

  const answer = createDashboard(PASSWORD);
  const own = {
    cookie: `theme=dark; dashboard=${PASSWORD}`,
    "sec-fetch-site": "same-origin",
    // Supabase rejects a secret key that a browser sends.
    "user-agent":
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
  };
  const send = (path, headers = {}, options = {}) =>
    answer(new Request((options.origin ?? ORIGIN) + path, { ...options, headers }));

  test("the URL with the password sets an HttpOnly cookie for this site only", async () => {
    const response = await send(`/?password=${PASSWORD}`);
    assert.equal(response.status, 303);
    assert.equal(response.headers.get("location"), "/");
    assert.equal(response.headers.get("set-cookie"), `dashboard=${PASSWORD}; Path=/; HttpOnly; SameSite=Strict`);
  });

  test("pages of the dashboard have the rights of the service role", async () => {
    const { id } = await writeDocument(database, { status: "failed" });
    assert.match(await (await send("/", { ...own, "sec-fetch-site": "none" })).text(), /<html/);
    assert.deepEqual(await (await send(TABLE, own)).json(), [{ id }]);
    // The Studio sends the key of its own configuration, which the server replaces.
    const headers = { ...own, apikey: keys.publishable_key, "content-type": "application/json" };
    const body = JSON.stringify({ enabled: false });
    const changed = await send(`/rest/v1/kb_documents?id=eq.${id}`, headers, { method: "PATCH", body });
    assert.ok(changed.ok, String(changed.status));
    const { rows } = await database.query("select enabled from kb_documents");
    assert.deepEqual(rows, [{ enabled: false }]);
  });

  /** @type {[title: string, headers: Record<string, string>, options?: { origin?: string, method?: string }][]} */
  const refused = [
    ["without a cookie", { "sec-fetch-site": "same-origin" }],
    ["with another cookie", { ...own, cookie: "dashboard=wrong" }],
    ["with an empty cookie", { ...own, cookie: "dashboard=" }],
    ["with the publishable key", { "sec-fetch-site": "same-origin", apikey: "sb_publishable_x" }],
    ["from a page of another port", { ...own, "sec-fetch-site": "same-site" }],
    ["from a page of another site", { ...own, "sec-fetch-site": "cross-site" }],
    ["from a client that is not a browser", { cookie: own.cookie }],
    ["to another host name of this computer", own, { origin: "http://localhost:1234" }],
    ["to a host name of another site", own, { origin: "http://attacker.example:1234" }],
    ["that changes data and comes from the address bar", { ...own, "sec-fetch-site": "none" }, { method: "DELETE" }],
  ];
  for (const [title, headers, options] of refused) {
    test(`a request ${title} is refused`, async () => {
      for (const path of [
        "/",
        TABLE,
        "/_system/config",
        "/static/main.js",
        "/auth/v1/admin/users",
        "/?password=wrong",
      ]) {
        const response = await send(path, headers, options);
        assert.equal(response.status, 403, path);
        assert.match(await response.text(), /Open the address/);
      }
    });
  }

  test("no path leads out of the folder of its files", async () => {
    for (const path of ["/static/..%2f..%2fpackage.json", "/static/..%2findex.js", "/static//etc/passwd", "/static/"]) {
      const { status } = await send(path, own);
      assert.notEqual(status, 200, path);
    }
  });

  test("the API address does not serve the dashboard", async () => {
    for (const path of ["/", "/static/main.js", "/_system/config", `/?password=${PASSWORD}`]) {
      assert.equal((await fetch(new Request(`http://127.0.0.1${path}`, { headers: own }))).status, 404, path);
    }
    const { status } = await fetch(new Request(`http://127.0.0.1${TABLE}`, { headers: own }));
    assert.equal(status, 401);
  });
}

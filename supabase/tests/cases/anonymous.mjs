import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, describe, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument } from "../support/knowledge-base.mjs";
import { ANON, as, SERVICE, user } from "../support/roles.mjs";

/** The documents: their names say for whom they are. `none` has no audience, so the default audience applies. */
const AUDIENCES = {
  none: null,
  account: ["is_anonymous:false"],
  visitor: ["is_anonymous:true"],
  signed_in: ["role:authenticated"],
  team: ["team:sales"],
};

/** The documents that each user sees with each default audience. `other_issuer`: its tokens have no claim is_anonymous. */
const MATRIX = `
  default_audience      visitor                      account                      other_issuer                 sales
  is_anonymous:false    signed_in,visitor            account,none,signed_in       account,none,signed_in       account,none,signed_in,team
  role:authenticated    none,signed_in,visitor       account,none,signed_in       account,none,signed_in       account,none,signed_in,team
  is_anonymous:true     none,signed_in,visitor       account,signed_in            account,signed_in            account,signed_in,team
  team:sales            signed_in,visitor            account,signed_in            account,signed_in            account,none,signed_in,team
`;

const OF_CALLER =
  "select internal.kb_caller_audiences() as list, internal.kb_is_in_default_audience() as is_in_default";

/** Anonymous visitors, and documents without an audience. */
export function anonymous({ database }) {
  const who = {
    visitor: user(randomUUID(), { is_anonymous: true }),
    account: user(randomUUID(), { is_anonymous: false }),
    other_issuer: user(randomUUID()),
    sales: user(randomUUID(), { is_anonymous: false, app_metadata: { team: "sales" } }),
  };
  const setDefault = (...entries) => database.query("update chat_settings set default_audience = $1", [entries]);
  const rows = (caller, sql, parameters = []) =>
    as(database, caller, async (transaction) => (await transaction.query(sql, parameters)).rows);
  /** As the role of the functions that users call, because users may not read the tables. */
  const asReader = (caller) => ({ ...caller, role: "evidence_chat" });
  const search = (caller, /** @type {string | null} */ text = null) =>
    rows(caller, "select * from match_chunks($1, 20, -1, $2)", [QUERY, text]);

  afterEach(() => setDefault("is_anonymous:false"));

  describe("what each user sees with each default audience", () => {
    const ids = {};
    const sessions = {};

    /** The ways to documents; each returns the names of those that the caller reaches. @type {Record<string, any>} */
    const ways = {
      "search by vectors": async (caller) => (await search(caller)).map((row) => row.document_name),
      "search by words": async (caller) => (await search(caller, "kettle")).map((row) => row.document_name),
      "the table kb_documents": async (caller) =>
        (await rows(asReader(caller), "select name from kb_documents")).map((row) => row.name),
      "the table kb_chunks": async (caller) =>
        (await rows(asReader(caller), "select meta ->> 'section' as name, document_id as id from kb_chunks")).map(
          (row) => row.name,
        ),
      "the table kb_embeddings": async (caller) =>
        (
          await rows(
            asReader(caller),
            "select c.meta ->> 'section' as name from kb_embeddings e join kb_chunks c on c.id = e.chunk_id",
          )
        ).map((row) => row.name),
      chat_documents: async (caller) =>
        (await rows(caller, "select name from chat_documents($1)", [Object.values(ids)])).map((row) => row.name),
      files: (caller) =>
        as(database, caller, async (transaction) => {
          await transaction.query("select set_config('storage.operation', 'object.get_authenticated', true)");
          const result = await transaction.query("select name from storage.objects where bucket_id = 'kb'");
          return result.rows.map((row) => row.name.replace(".pdf", ""));
        }),
      "answers in the history": async (caller) =>
        (
          await rows(caller, "select content from chat_messages where session_id = $1 and role = 'assistant'", [
            sessions[caller.claims.sub],
          ])
        ).map((row) => row.content),
    };

    before(async () => {
      await database.query("update assistants set link_mode = 'authenticated'");
      for (const [name, audience] of Object.entries(AUDIENCES)) {
        const document = await writeDocument(database, {
          name,
          audience,
          contents: ["kettle"],
          section: name,
          storagePath: `${name}.pdf`,
        });
        ids[name] = document.id;
        await database.query("insert into storage.objects (bucket_id, name) values ('kb', $1)", [`${name}.pdf`]);
      }
      for (const [name, caller] of Object.entries(who)) {
        const id = caller.claims.sub;
        sessions[id] = randomUUID();
        await database.query("insert into auth.users (id, email) values ($1, $2)", [id, `${name}@anonymous.example`]);
        await database.query("insert into chat_sessions (id, user_id) values ($1, $2)", [sessions[id], id]);
        for (const [content, documentId] of Object.entries(ids)) {
          await database.query(
            "insert into chat_messages (session_id, role, content, sources) values ($1, 'assistant', $2, $3)",
            [sessions[id], content, [documentId]],
          );
        }
      }
    });
    after(async () => {
      await clearKnowledgeBase(database);
      await database.exec(`
        update assistants set link_mode = 'none';
        delete from storage.objects;
        delete from auth.users where email like '%@anonymous.example'`);
    });

    const [[, ...callers], ...lines] = MATRIX.trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/));
    for (const [entry, ...expected] of lines) {
      for (const [way, reach] of Object.entries(ways)) {
        test(`with the default audience ${entry}, ${way} gives each user exactly the documents of the matrix`, async () => {
          await setDefault(entry);
          const seen = {};
          for (const name of callers) seen[name] = (await reach(who[name])).sort().join(",");
          assert.deepEqual(seen, Object.fromEntries(callers.map((name, index) => [name, expected[index]])));
        });
      }
    }

    test("without the row of settings, documents without an audience are closed to anonymous visitors", async () => {
      await database.exec("delete from chat_settings");
      try {
        const seen = await ways["the table kb_documents"](who.visitor);
        assert.deepEqual(seen.sort(), ["signed_in", "visitor"]);
        assert.equal((await ways["the table kb_documents"](who.account)).length, 3);
      } finally {
        await database.exec("insert into chat_settings default values");
      }
    });

    test("the service role sees everything with every default audience", async () => {
      await setDefault("team:nobody");
      assert.equal((await search(SERVICE)).length, 5);
      assert.equal((await search(SERVICE, "kettle")).length, 5);
    });
  });

  describe("documents without an audience", () => {
    afterEach(() => clearKnowledgeBase(database));
    const VISITOR = { audience: ["is_anonymous:true"] };

    test("an anonymous visitor learns nothing about the words of closed documents", async () => {
      await writeDocument(database, { contents: ["the kettle is hot"], ...VISITOR });
      const terms = async () =>
        (await search(who.visitor, "is the merger with kettle and acquisition hot"))[0].query_terms;
      const before = await terms();
      await writeDocument(database, { contents: Array(5).fill("the merger and the acquisition") });
      assert.deepEqual(await terms(), before);
      const [, ...weights] = before.map(({ weight }) => weight);
      assert.ok(weights.every((weight) => weight === before[0].weight));
    });

    test("nearer closed chunks do not crowd out those that an anonymous visitor sees", async () => {
      await writeDocument(database, {
        contents: Array(400).fill("kettle kettle"),
        similarities: Array(400).fill(0.99),
      });
      await writeDocument(database, { contents: ["kettle for visitors"], similarities: [0.2], ...VISITOR });
      for (const text of [null, "kettle"]) {
        assert.deepEqual(
          (await search(who.visitor, text)).map((row) => row.content),
          ["kettle for visitors"],
        );
      }
    });

    test("an answer from a deleted document without an audience is hidden from visitors until the default audience is open", async () => {
      const { id } = await writeDocument(database);
      const session = randomUUID();
      const { sub } = who.visitor.claims;
      await database.query("insert into auth.users (id, email) values ($1, 'gone@anonymous.example')", [sub]);
      try {
        await database.query("insert into chat_sessions (id, user_id) values ($1, $2)", [session, sub]);
        await database.query(
          "insert into chat_messages (session_id, role, content, sources) values ($1, 'assistant', 'answer', $2)",
          [session, [id]],
        );
        await database.query("delete from kb_documents");
        const history = () => rows(who.visitor, "select content from chat_messages");
        assert.deepEqual(await history(), []);
        await setDefault("role:authenticated");
        assert.equal((await history()).length, 1);
      } finally {
        await database.query("delete from auth.users where id = $1", [sub]);
      }
    });

    test("a visitor who sees no document is told whether there is one, and so is the Worker", async () => {
      const has = async () => [
        (await rows(who.visitor, "select chat_has_documents() as has"))[0].has,
        (await rows(ANON, "select chat_config(checks => true) -> 'hides_documents' as hides"))[0].hides,
      ];
      await clearKnowledgeBase(database);
      assert.deepEqual(await has(), [null, false]);
      await writeDocument(database);
      assert.deepEqual(await has(), [false, true]);
      await setDefault("role:authenticated");
      assert.deepEqual(await has(), [true, false]);
    });
  });

  describe("retention", () => {
    const USERS = {
      "old and inactive": [40, {}],
      "asked in a conversation": [40, { session: 10 }],
      "asked long ago": [40, { session: 35, refusal: 35 }],
      "asked a refused question outside a conversation": [40, { refusal: 10 }],
      "signed in again": [40, { signIn: 10 }],
      "signed up yesterday": [1, {}],
      "with an account": [40, { anonymous: false }],
      "made by another part of the site": [40, { createdBy: "shop" }],
    };
    const retain = async () => (await database.query("select chat_retain() as result")).rows[0].result;
    const remaining = async () =>
      (
        await database.query("select email from auth.users where email like '%@retention.example' order by email")
      ).rows.map(({ email }) => email.split("@")[0]);

    before(async () => {
      for (const [
        name,
        [age, { session, refusal, signIn, anonymous = true, createdBy = "evidence-chat" }],
      ] of /** @type {[string, [number, Record<string, any>]][]} */ (Object.entries(USERS))) {
        const id = randomUUID();
        await database.query(
          `insert into auth.users (id, email, is_anonymous, raw_user_meta_data, created_at, last_sign_in_at)
             values ($1, $2, $3, $4, now() - make_interval(days => $5), now() - make_interval(days => $6))`,
          [id, `${name}@retention.example`, anonymous, { created_by: createdBy }, age, signIn ?? age],
        );
        if (session) {
          await database.query("insert into chat_sessions (user_id) values ($1)", [id]);
          await database.query(
            "update chat_sessions set updated_at = now() - make_interval(days => $2) where user_id = $1",
            [id, session],
          );
        }
        if (refusal) {
          const { rows: created } = await database.query(
            "insert into chat_refusals (user_id, question, embedding, reason) values ($1, 'Who?', $2, 'no_match') returning id",
            [id, QUERY],
          );
          await database.query(
            "update chat_refusals set created_at = now() - make_interval(days => $2) where id = $1",
            [created[0].id, refusal],
          );
        }
      }
    });
    after(() =>
      database.exec(`
        delete from auth.users where email like '%@retention.example';
        delete from internal.chat_retention`),
    );

    test("chat_retain deletes exactly the inactive anonymous users that the widget made, with their data", async () => {
      await database.exec("update chat_settings set anonymous_retention_days = null");
      assert.equal((await retain()).anonymous_users, 0);
      await database.exec("update chat_settings set anonymous_retention_days = 30");
      assert.equal(
        (await database.query("select kb_health() as health")).rows[0].health.has_inactive_anonymous_users,
        true,
      );
      assert.equal((await retain()).anonymous_users, 2);
      const gone = ["asked long ago", "old and inactive"];
      assert.deepEqual(
        await remaining(),
        Object.keys(USERS)
          .filter((name) => !gone.includes(name))
          .sort(),
      );
      const { rows: orphans } = await database.query(
        "select from chat_sessions s where not exists (select from auth.users u where u.id = s.user_id)",
      );
      assert.deepEqual(orphans, []);
    });

    test("users whom another table refers to stay, and neither they nor a late check keep the others and old conversations", async () => {
      await database.exec(`
        create table public.profiles (id uuid references auth.users);
        create table public.carts (id uuid references auth.users deferrable initially deferred)`);
      const add = async (name, table) => {
        const id = randomUUID();
        await database.query(
          `insert into auth.users (id, email, is_anonymous, raw_user_meta_data, created_at)
             values ($1, $2, true, '{"created_by": "evidence-chat"}', now() - interval '40 days')`,
          [id, `${name}@retention.example`],
        );
        if (table) await database.query(`insert into public.${table} values ($1)`, [id]);
        await database.query("insert into chat_sessions (user_id, title) values ($1, 'Mine')", [id]);
        await database.query("update chat_sessions set updated_at = now() - interval '40 days' where user_id = $1", [
          id,
        ]);
      };
      try {
        for (const [name, table] of [["free"], ["profile", "profiles"], ["cart", "carts"]]) await add(name, table);
        const { anonymous_users, undeletable_users } = await retain();
        assert.deepEqual([anonymous_users, undeletable_users], [1, 2]);
        const left = await remaining();
        assert.deepEqual(
          ["free", "profile", "cart"].filter((name) => left.includes(name)),
          ["profile", "cart"],
        );
        const { rows: conversations } = await database.query("select from chat_sessions where title = 'Mine'");
        assert.deepEqual(conversations, []);
      } finally {
        await database.exec(`
          drop table public.profiles, public.carts;
          delete from auth.users where email in ('profile@retention.example', 'cart@retention.example')`);
      }
    });

    test("without the row of settings, the period is 30 days", async () => {
      await database.exec("delete from chat_settings");
      try {
        for (const age of [29, 31]) {
          await database.query(
            `insert into auth.users (id, email, is_anonymous, raw_user_meta_data, created_at)
               values ($1, $2, true, '{"created_by": "evidence-chat"}', now() - make_interval(days => $3))`,
            [randomUUID(), `${age}@retention.example`, age],
          );
        }
        assert.equal((await retain()).anonymous_users, 1);
        const left = await remaining();
        assert.ok(left.includes("29") && !left.includes("31"));
      } finally {
        await database.exec("insert into chat_settings default values");
      }
    });
  });

  /** @type {Record<string, [audience: any, constraint: string]>} */
  const refused = {
    "no list": [null, "default_audience"],
    "an empty list": [[], "never_empty"],
    "an entry without a colon": [["everybody"], "claim_colon_value"],
    "a claim that users can set": [["email:a@example.com"], "not_user_editable"],
  };
  for (const [title, [audience, constraint]] of Object.entries(refused)) {
    test(`${title} is rejected as the default audience`, async () => {
      await assert.rejects(
        database.query("update chat_settings set default_audience = $1", [audience]),
        new RegExp(constraint),
      );
    });
  }

  test("a token that names no user has no audience", async () => {
    for (const claims of [
      {},
      { role: "anon" },
      { iss: "supabase", role: "anon" },
      { is_anonymous: false, sub: null },
      [{ is_anonymous: false, sub: "x" }],
      '{"is_anonymous": false, "sub": "x"',
    ]) {
      const [{ list, is_in_default }] = await rows({ role: "authenticated", claims }, OF_CALLER);
      assert.deepEqual([list, is_in_default], [[], false], JSON.stringify(claims));
    }
  });

  /** @type {Record<string, [value: any, expected: boolean]>} */
  const claims = {
    true: [true, true],
    '"true"': ["true", true],
    '"false"': ["false", true],
    1: [1, true],
    "a list": [[false], true],
    false: [false, false],
    null: [null, false],
    "not set": [undefined, false],
  };
  for (const [title, [value, expected]] of Object.entries(claims)) {
    test(`a token whose claim is_anonymous is ${title} has exactly the audience is_anonymous:${expected}`, async () => {
      const caller = user(randomUUID(), { is_anonymous: value, app_metadata: { is_anonymous: !expected } });
      const [{ list, is_in_default }] = await rows(caller, OF_CALLER);
      assert.deepEqual(
        list.filter((entry) => entry.startsWith("is_anonymous:")),
        [`is_anonymous:${expected}`],
      );
      assert.equal(is_in_default, !expected);
      // The usual default audience is checked in another way than all others.
      await setDefault("is_anonymous:false", "team:nobody");
      const [other] = await rows(caller, OF_CALLER);
      assert.equal(other.is_in_default, !expected);
    });
  }
}

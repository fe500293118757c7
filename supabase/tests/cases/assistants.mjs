import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { clearKnowledgeBase, QUERY, writeDocument } from "../support/knowledge-base.mjs";
import { ANON, as, become, SERVICE, user } from "../support/roles.mjs";
import { newTurn, RECORD_TURN } from "../support/turn.mjs";

/**
 * What a search finds, for each assistant and caller: the documents, or `unknown` for an assistant that does not exist for them.
 * Collection `shop` has a document for everybody and one for team:sales, collection `staff` one for each too.
 */
const SEARCH = `
  assistant  anonymous  other        sales                                it            service
  default    -          shop,staff   shop,shop-sales,staff,staff-sales    shop,staff    shop,shop-sales,staff,staff-sales
  shop       -          shop         shop,shop-sales                      shop          shop,shop-sales
  staff      unknown    unknown      staff,staff-sales                    unknown       staff,staff-sales
  both       unknown    unknown      unknown                              shop,staff    shop,shop-sales,staff,staff-sales
  empty      -          -            -                                    -             -
  accounts   unknown    shop         shop,shop-sales                      shop          shop,shop-sales
  disabled   unknown    unknown      unknown                              unknown       shop,shop-sales
  missing    unknown    unknown      unknown                              unknown       unknown
`;

const ASSISTANTS = `
  insert into assistants (name, collections, audience, enabled, link_mode, greeting) values
    ('shop', '{shop}', null, true, 'public', 'Hello, shopper'),
    ('staff', '{staff}', '{team:sales}', true, 'authenticated', 'Hello, colleague'),
    ('both', '{shop,staff}', '{team:it}', true, 'none', 'Hello, IT'),
    ('empty', '{nothing}', null, true, 'none', null),
    ('accounts', '{shop}', '{is_anonymous:false}', true, 'public', 'Hello, customer'),
    ('disabled', '{shop}', null, false, 'none', null)`;

const [[, ...CALLERS], ...LINES] = SEARCH.trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/));

/** Several assistants on one knowledge base: nothing leaks from one to another. */
export function assistants({ database }) {
  const who = {};
  const ids = {};
  const names = {};

  before(async () => {
    await clearKnowledgeBase(database);
    await database.exec(ASSISTANTS);
    for (const name of ["anonymous", "other", "sales", "it"])
      ids[name] = await newUser(database, `${name}@assistants.example`);
    Object.assign(who, {
      anonymous: user(ids.anonymous, { is_anonymous: true }),
      other: user(ids.other),
      sales: user(ids.sales, { app_metadata: { team: "sales" } }),
      it: user(ids.it, { app_metadata: { team: "it" } }),
      service: SERVICE,
    });
    for (const collection of ["shop", "staff"]) {
      for (const audience of [null, ["team:sales"]]) {
        const name = audience ? `${collection}-sales` : collection;
        const { id } = await writeDocument(database, {
          source: `${collection}/${name}.md`,
          name,
          audience,
          contents: ["A kettle"],
          storagePath: `originals/${name}.pdf`,
        });
        names[id] = name;
      }
    }
  });
  after(async () => {
    await clearKnowledgeBase(database);
    await database.exec(`
      delete from auth.users where email like '%@assistants.example';
      delete from assistants where name <> 'default'`);
  });

  /** The result, or "unknown" if the assistant does not exist for the caller. */
  const call = async (caller, sql, ...parameters) => {
    try {
      return await as(database, who[caller] ?? caller, async (run) => (await run.query(sql, parameters)).rows);
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
      if (code !== "PT404") throw error;
      assert.equal(message, "There is no assistant of this name that you may use.");
      return "unknown";
    }
  };
  const found = (rows) =>
    rows === "unknown" ? rows : [...new Set(rows.map((row) => names[row.document_id]))].sort().join(",") || "-";

  for (const [assistant, ...expected] of LINES) {
    test(`a search with the assistant ${assistant} finds exactly what the matrix says`, async () => {
      for (const words of [null, "kettle"]) {
        const outcomes = [];
        for (const caller of CALLERS) {
          const sql = "select document_id from match_chunks($1, 100, -1, $2, $3)";
          outcomes.push(found(await call(caller, sql, QUERY, words, assistant)));
        }
        assert.deepEqual(Object.fromEntries(zip(CALLERS, outcomes)), Object.fromEntries(zip(CALLERS, expected)));
      }
    });

    test(`everything else about the assistant ${assistant} is unknown to the same callers`, async () => {
      for (const [caller, outcome] of zip(CALLERS, expected)) {
        const config = await call(caller, "select chat_config($1)", assistant);
        assert.equal(config === "unknown", outcome === "unknown", `chat_config as ${caller}`);
        if (caller === "service") continue;
        const has = await call(caller, "select chat_has_documents($1) as has", assistant);
        assert.deepEqual(has, outcome === "unknown" ? outcome : [{ has: outcome !== "-" }], caller);
        const turn = await call(caller, RECORD_TURN, newTurn({ assistant }));
        assert.equal(turn === "unknown", outcome === "unknown", `chat_record_turn as ${caller}`);
        const refusal = await call(
          caller,
          "select chat_record_refusal(gen_random_uuid(), null, 'Hm?', $1, null, 'no_match', $2)",
          QUERY,
          assistant,
        );
        assert.equal(refusal === "unknown", outcome === "unknown", `chat_record_refusal as ${caller}`);
      }
    });
  }

  test("without a token, only assistants for everybody have a configuration", async () => {
    const known = { default: true, shop: true, staff: false, accounts: false, disabled: false };
    // The legacy publishable key is a token without a user.
    const withKey = { role: "anon", claims: { iss: "supabase", ref: "project", role: "anon" } };
    for (const caller of [ANON, withKey, { role: "anon", claims: {} }]) {
      for (const [assistant, isKnown] of Object.entries(known)) {
        const config = await call(caller, "select chat_config($1) as config", assistant);
        assert.equal(config !== "unknown", isKnown, assistant);
      }
    }
    const [{ config }] = /** @type {any[]} */ (await call(ANON, "select chat_config('shop') as config"));
    assert.equal(config.settings.greeting, "Hello, shopper");
    assert.ok(!JSON.stringify(config).includes('"collections"'));
  });

  test("a null name is unknown to users, and everything to the administrator", async () => {
    assert.equal(await call("sales", "select * from match_chunks($1, assistant => null)", QUERY), "unknown");
    assert.equal(await call("sales", "select chat_config(null)"), "unknown");
    const all = await call("service", "select document_id from match_chunks($1, 9, -1, assistant => null)", QUERY);
    assert.equal(found(all), "shop,shop-sales,staff,staff-sales");
    assert.equal(await call("sales", "select chat_has_documents(null)"), "unknown");
  });

  test("a document that moves to another collection is found there at once, and only there", async () => {
    const move = "update kb_documents set source = $1 where name = 'shop'";
    const search = async (assistant) =>
      found(await call("other", "select document_id from match_chunks($1, 9, -1, $2, $3)", QUERY, "kettle", assistant));
    await database.query(move, ["empty-now/shop.md"]);
    assert.equal(await search("shop"), "-");
    await database.query("update assistants set collections = '{empty-now}' where name = 'empty'");
    assert.equal(await search("empty"), "shop");
    await database.query(move, ["shop/shop.md"]);
    await database.query("update assistants set collections = '{nothing}' where name = 'empty'");
    assert.deepEqual([await search("shop"), await search("empty")], ["shop", "-"]);
  });

  describe("history", () => {
    const session = randomUUID();
    const history = (caller) => call(caller, "select role from chat_messages order by created_at");

    before(() =>
      database.transaction(async (run) => {
        await become(run, who.sales);
        await run.query(RECORD_TURN, [newTurn({ session_id: session, assistant: "staff" })]);
      }),
    );
    after(() => database.query("delete from chat_sessions where id = $1", [session]));

    test("a session belongs to one assistant, which another one cannot continue", async () => {
      for (const changes of [
        { assistant: "shop", title: null },
        { assistant: "shop", title: "New" },
        { assistant: "default", title: null },
      ]) {
        const turn = newTurn({ session_id: session, ...changes });
        await assert.rejects(call("sales", RECORD_TURN, turn), {
          code: "42501",
          message: "session not found",
        });
      }
      const next = newTurn({ session_id: session, assistant: "staff", title: null });
      await call("sales", RECORD_TURN, next);
      const rows = await call("sales", "select assistant from chat_sessions");
      assert.deepEqual(rows, [{ assistant: "staff" }]);
    });

    test("a user who has left the audience keeps the questions and loses the answers", async () => {
      assert.deepEqual(await history("sales"), [{ role: "user" }, { role: "assistant" }]);
      assert.deepEqual(await history(user(ids.sales)), [{ role: "user" }]);
    });

    test("an assistant with conversations can be renamed or disabled, and not deleted", async () => {
      await assert.rejects(database.query("delete from assistants where name = 'staff'"), { code: "23503" });
      await database.exec("update assistants set name = 'team', enabled = false where name = 'staff'");
      assert.deepEqual(await call("sales", "select assistant from chat_sessions"), [{ assistant: "team" }]);
      assert.deepEqual(await history("sales"), [{ role: "user" }, { role: "assistant" }]);
      await database.exec("update assistants set name = 'staff', enabled = true where name = 'team'");
    });
  });

  describe("files", () => {
    const FILES = `
      caller       shop            shop-sales      staff           staff-sales
      anonymous    -               -               -               -
      other        none            -               none            -
      sales        none            none            none            none
    `;
    // Without the assistants default and both, whose link mode is none.
    const OPENED = `
      caller       shop            shop-sales      staff           staff-sales
      anonymous    -               -               -               -
      other        public          -               none            -
      sales        public          public          authenticated   authenticated
      it           public          -               none            -
    `;
    const documents = async (caller) => {
      const rows = /** @type {any[]} */ (
        await call(caller, "select name, storage_path, link_mode from chat_documents($1)", Object.keys(names))
      );
      for (const row of rows) assert.equal(row.storage_path === null, row.link_mode === "none", row.name);
      return Object.fromEntries(rows.map((row) => [row.name, row.link_mode]));
    };
    const operations = { none: [false, false], authenticated: [true, false], public: [true, true] };

    /** @type {[title: string, table: string, disabled: string[]][]} */
    const tables = [
      ["the strictest link mode of the assistants that search a file applies", FILES, []],
      ["a file is closed to callers who may use none of its assistants", OPENED, ["default", "both"]],
    ];
    for (const [title, table, disabled] of tables) {
      test(title, async () => {
        await database.query("update assistants set enabled = false where name = any ($1)", [disabled]);
        try {
          const [[, ...columns], ...lines] = table
            .trim()
            .split("\n")
            .map((line) => line.trim().split(/\s+/));
          for (const [caller, ...modes] of lines) {
            const expected = Object.fromEntries(zip(columns, modes).filter(([, mode]) => mode !== "-"));
            assert.deepEqual(await documents(caller), expected, caller);
            for (const [name, mode] of zip(columns, modes)) {
              const opened = [];
              for (const operation of ["object.get_authenticated", "object.sign"]) {
                const [{ open }] = /** @type {any[]} */ (
                  await call(
                    caller,
                    "select internal.kb_can_open_file($1) as open from set_config('storage.operation', $2, true)",
                    `originals/${name}.pdf`,
                    operation,
                  )
                );
                opened.push(open);
              }
              assert.deepEqual(opened, operations[mode] ?? operations.none, `${name} as ${caller}`);
            }
          }
        } finally {
          await database.query("update assistants set enabled = true where name = any ($1)", [disabled]);
        }
      });
    }
  });

  test("questions without an answer and their groups are separate for each assistant, and one without documents is reported", async () => {
    const added = [];
    for (const assistant of ["shop", "staff", "shop"]) {
      const { rows } = await database.query(
        `insert into chat_refusals (user_id, question, embedding, reason, from_worker, assistant)
           values ($1, 'Why?', $2, 'no_match', true, $3) returning group_id`,
        [ids.sales, QUERY, assistant],
      );
      added.push(rows[0].group_id);
    }
    assert.equal(added[0], added[2]);
    assert.notEqual(added[0], added[1]);
    try {
      const { rows } = await database.query("select kb_health() as health");
      assert.deepEqual(rows[0].health.assistants_without_documents, ["empty"]);
    } finally {
      await database.exec("delete from chat_refusals");
    }
  });
}

async function newUser(database, email) {
  const { rows } = await database.query(
    "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id",
    [email],
  );
  return rows[0].id;
}

function zip(names, values) {
  return names.map((name, index) => [name, values[index]]);
}

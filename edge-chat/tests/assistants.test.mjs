// Several assistants on one Worker: each has its own settings, history and users, and an unknown one looks like a forbidden one.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { ask, assertError, question, send } from "./support/client.mjs";
import { DEFAULT_SETTINGS, NOBODY, passage, startUpstream, unknownAssistant } from "./support/upstream.mjs";
import { startTestWorker } from "./support/worker.mjs";

let upstream;
let worker;

/** The assistants of the database; `users` are those who may use one, and without it everybody may. */
const assistants = new Map();

before(async () => {
  upstream = await startUpstream();
  upstream.defaults["rpc/chat_config"] = ({ user, body: { assistant } }) => {
    const { users, ...settings } = assistants.get(assistant) ?? { users: [] };
    if (users && !users.includes(user)) return unknownAssistant();
    return { body: { model: "test-model", settings: { ...DEFAULT_SETTINGS, ...settings } } };
  };
  upstream.defaults["rpc/match_chunks"] = ({ user, body: { assistant } }) => {
    const { users } = assistants.get(assistant) ?? { users: [] };
    return users && !users.includes(user) ? unknownAssistant() : { body: [passage()] };
  };
  worker = await startTestWorker(upstream, { CHAT_ALLOWED_ORIGINS: "https://shop.test,https://other.test" });
});
after(async () => {
  await worker?.close();
  upstream?.close();
});

/** A new name, because the Worker remembers names for a minute. */
function addAssistant(settings = {}) {
  const name = `a${crypto.randomUUID().slice(0, 8)}`;
  assistants.set(name, settings);
  return name;
}
assistants.set("default", {});

const newUser = () => crypto.randomUUID();
const askWith = (user, assistant, fields = {}, options = {}) =>
  ask(worker.url, user, question({ assistant, ...fields }), options);

describe("questions", () => {
  test("the assistant of the question reaches the search and the history", async () => {
    const [user, shop] = [newUser(), addAssistant()];
    const { events } = await askWith(user, shop);
    assert.equal(events.at(-1).type, "answer_end");
    assert.equal(upstream.callsOf(user, "rpc/match_chunks")[0].body.assistant, shop);
    assert.equal(upstream.callsOf(user, "rpc/chat_record_turn")[0].body.turn.assistant, shop);
    const [session] = upstream.history.sessionsOf(user);
    assert.equal(session.assistant, shop);
  });

  test("without a name, the default assistant answers", async () => {
    const user = newUser();
    await ask(worker.url, user);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks")[0].body.assistant, "default");
  });

  test("each assistant has its own settings", async () => {
    const strict = addAssistant({ evidence_confidence: 1, refusal_message: "Ask the shop." });
    const { events } = await askWith(newUser(), strict);
    assert.deepEqual([events[0].type, events[0].message], ["refusal", "Ask the shop."]);
    assert.equal((await askWith(newUser(), addAssistant())).events.at(-1).type, "answer_end");
  });

  test("an unknown and a forbidden assistant give the same 404, which does not cost a retry", async () => {
    const forbidden = addAssistant({ users: [newUser()] });
    const bodies = [];
    for (const name of ["no-such-assistant", forbidden]) {
      const reply = await askWith(newUser(), name);
      assertError(reply, 404, "unknown_assistant");
      const { request_id: _, ...body } = reply.json;
      bodies.push(body);
      assert.equal(body.retryable, false);
    }
    assert.deepEqual(bodies[0], bodies[1]);
    const user = newUser();
    await askWith(user, forbidden);
    assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 0);
    assert.equal(upstream.history.sessionsOf(user).length, 0);
  });

  test("the settings of an assistant for some users are read with the token of each", async () => {
    const [member, other] = [newUser(), newUser()];
    const staff = addAssistant({ users: [member] });
    assert.equal((await askWith(member, staff)).events.at(-1).type, "answer_end");
    assertError(await askWith(other, staff), 404, "unknown_assistant");
    assert.equal((await askWith(member, staff)).events.at(-1).type, "answer_end");
    assert.equal(upstream.callsOf(member, "rpc/chat_config").length, 2);
  });

  test("a conversation cannot be continued with another assistant", async () => {
    const [user, shop, other] = [newUser(), addAssistant(), addAssistant()];
    const { events } = await askWith(user, shop);
    const { session_id } = events[0];
    assertError(await askWith(user, other, { session_id }), 404, "not_found");
    assert.equal((await askWith(user, shop, { session_id })).events.at(-1).type, "answer_end");
  });

  test("the same message_id with another assistant is a conflict", async () => {
    const [user, shop, other] = [newUser(), addAssistant(), addAssistant()];
    const message_id = crypto.randomUUID();
    await askWith(user, shop, { message_id });
    assertError(await askWith(user, other, { message_id }), 409, "conflict");
  });

  for (const name of ["", "Shop", "a/b", "-a", 7, ["a"], "a".repeat(64)]) {
    test(`the name ${JSON.stringify(name)} is rejected before anything is asked`, async () => {
      const user = newUser();
      assertError(await askWith(user, name), 400, "invalid_request");
      assert.equal(upstream.callsOf(user).length, 0);
    });
  }
});

describe("origins", () => {
  const from = (origin) => ({ headers: { origin } });

  test("an assistant with origins of its own answers there only", async () => {
    const shop = addAssistant({ allowed_origins: ["https://shop.test"] });
    assert.equal((await askWith(newUser(), shop, {}, from("https://shop.test"))).status, 200);
    const elsewhere = await askWith(newUser(), shop, {}, from("https://other.test"));
    assertError(elsewhere, 403, "forbidden");
    // The page can read the error.
    assert.equal(elsewhere.headers.get("access-control-allow-origin"), "https://other.test");
    assert.equal((await askWith(newUser(), "default", {}, from("https://other.test"))).status, 200);
    const config = (origin) => send(worker.url, `/api/config?assistant=${shop}`, from(origin));
    assert.equal((await config("https://shop.test")).status, 200);
    assertError(await config("https://other.test"), 403, "forbidden");
  });

  test("a forbidden assistant does not reveal that it has origins", async () => {
    const staff = addAssistant({ users: [newUser()], allowed_origins: ["https://shop.test"] });
    assertError(await askWith(newUser(), staff, {}, from("https://other.test")), 404, "unknown_assistant");
  });
});

describe("GET /api/config", () => {
  afterEach(() => upstream.behave(NOBODY, {}));

  test("has the settings of the assistant, and is cached for everybody only if it is for everybody", async () => {
    const member = newUser();
    const shop = addAssistant({ title: "The shop", greeting: "Hello!" });
    const staff = addAssistant({ users: [member], title: "Staff" });
    const config = (name, user) => send(worker.url, `/api/config?assistant=${name}`, { user });
    const open = await config(shop);
    assert.deepEqual([open.json.title, open.json.greeting], ["The shop", "Hello!"]);
    assert.equal(open.headers.get("cache-control"), "public, max-age=60");
    assertError(await config(staff), 404, "unknown_assistant");
    assertError(await config(staff, newUser()), 404, "unknown_assistant");
    const own = await config(staff, member);
    assert.deepEqual([own.json.title, own.headers.get("cache-control")], ["Staff", "private, no-store"]);
    assertError(await config(staff), 404, "unknown_assistant");
    assertError(await config("No"), 400, "invalid_request");
    assertError(await config(`${shop}&assistant=${staff}`), 400, "invalid_request");
  });

  test("many names are looked up again, and the one in use stays in memory", async () => {
    const shop = addAssistant();
    const config = (name) => send(worker.url, `/api/config?assistant=${name}`);
    for (let number = 0; number < 70; number++) {
      await config(`n${number}`);
      assert.equal((await config(shop)).status, 200);
    }
    const reads = upstream.callsOf(NOBODY, "rpc/chat_config").filter((call) => call.body.assistant === shop);
    assert.equal(reads.length, 1);
  });
});

test("the list of conversations has those of one assistant", async () => {
  const user = newUser();
  const shop = addAssistant();
  upstream.history.addSession(user);
  const { id } = upstream.history.addSession(user, { assistant: shop });
  const list = async (query) => (await send(worker.url, `/api/sessions${query}`, { user })).json;
  assert.deepEqual(
    (await list(`?assistant=${shop}`)).sessions.map((session) => [session.id, session.assistant]),
    [[id, shop]],
  );
  assert.equal((await list("")).sessions.length, 1);
  assert.equal((await list("?assistant=none")).sessions.length, 0);
});

test("each document is linked by its own link mode, which the database decides, unless the assistant links nothing", async () => {
  const user = newUser();
  const [linking, silent] = [addAssistant({ link_mode: "public" }), addAssistant({ link_mode: "none" })];
  const linkOf = async (name) =>
    (await askWith(user, name)).events.find(({ type }) => type === "sources").citations[0].download_url;
  upstream.settings.link_mode = "public";
  assert.match(await linkOf(linking), /token=signed/);
  assert.equal(await linkOf(silent), undefined);
  upstream.settings.link_mode = "authenticated";
  assert.match(await linkOf(linking), /\/api\/documents\/.*\/download$/);
  upstream.settings.link_mode = "none";
  assert.equal(await linkOf(linking), undefined);
});

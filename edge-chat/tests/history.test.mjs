// The history: idempotent writes, paging, renaming, deletion, and isolation between users.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ask, assertError, question, send } from "./support/client.mjs";
import { DOCUMENT_ID, passage, weakPassage } from "./support/upstream.mjs";
import { closePair, startPair, startTestWorker, withWorker } from "./support/worker.mjs";

let upstream;
let worker;

before(async () => {
  ({ upstream, worker } = await startPair());
});
after(() => closePair({ upstream, worker }));

const newUser = () => crypto.randomUUID();
const get = (user, path) => send(worker.url, path, { user });
const ids = (rows) => rows.map(({ id }) => id);
const NOWHERE = "5e551011-0000-4000-8000-000000000001";

/** Reads all pages of a list. */
async function readPages(user, path, name, limit) {
  const pages = [];
  let cursor = null;
  do {
    const query = new URLSearchParams({ limit, ...(cursor && { cursor }) });
    const { status, json } = await get(user, `${path}?${query}`);
    assert.equal(status, 200);
    assert.ok(json[name].length <= limit);
    pages.push(json[name]);
    cursor = json.next_cursor;
  } while (cursor);
  return pages;
}

describe("turn", () => {
  test("a turn is written in one call and can be read", async () => {
    const user = newUser();
    const sent = question({ message: "  When are\n refunds paid?  " });
    const { events } = await ask(worker.url, user, sent);
    const { session_id } = events[0];
    const { message_id, persisted } = events.at(-1);
    assert.equal(persisted, true);
    const [
      {
        body: { turn: written },
      },
      ...more
    ] = upstream.callsOf(user, "rpc/chat_record_turn");
    assert.equal(more.length, 0);
    assert.equal(written.refusal, null);
    assert.ok(Number.isInteger(written.latency_ms) && written.latency_ms >= 0, String(written.latency_ms));

    const session = await get(user, `/api/sessions/${session_id}`);
    assert.deepEqual([session.json.id, session.json.title], [session_id, "When are refunds paid?"]);
    const { json } = await get(user, `/api/sessions/${session_id}/messages`);
    assert.equal(json.next_cursor, null);
    const [asked, answered] = json.messages;
    assert.deepEqual([asked.id, asked.role, asked.content], [sent.message_id, "user", "When are\n refunds paid?"]);
    assert.deepEqual(asked.citations, []);
    assert.deepEqual([answered.id, answered.role], [message_id, "assistant"]);
    assert.equal(answered.content, "Refunds are paid within 5 days. [1]");
    const [{ available, ...citation }] = answered.citations;
    assert.equal(available, true);
    assert.deepEqual(citation, events[2].citations[0]);
  });

  test("a further turn in a session does not change the title", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user, { title: "Mine" });
    const { events } = await ask(worker.url, user, question({ session_id: session.id }));
    assert.equal(events[0].session_id, session.id);
    assert.equal(upstream.callsOf(user, "rpc/chat_record_turn")[0].body.turn.title, null);
    assert.equal(upstream.history.sessionsOf(user).length, 1);
    assert.equal((await get(user, `/api/sessions/${session.id}`)).json.title, "Mine");
    const [check] = upstream.callsOf(user, "chat_sessions");
    assert.deepEqual([check.query.id, check.query.user_id], [`eq.${session.id}`, `eq.${user}`]);
  });

  test("a refused turn is in the history with the message of the refusal", async () => {
    const user = newUser();
    upstream.behave(user, { "rpc/match_chunks": () => ({ body: [weakPassage()] }) });
    const [refusal] = (await ask(worker.url, user)).events;
    const { json } = await get(user, `/api/sessions/${refusal.session_id}/messages`);
    const [asked, refused] = json.messages;
    assert.deepEqual([refused.content, refused.citations, refused.refusal], [refusal.message, [], refusal.reason]);
    assert.deepEqual([refused.hedged, "refusal" in asked, "hedged" in asked], [false, false, false]);
  });

  test("a turn is written once if the first run is lost after writing", async () => {
    const user = newUser();
    const sent = question();
    // The database has written, but its response never arrives; then the Worker restarts.
    upstream.behave(user, {
      "rpc/chat_record_turn": (call) => {
        upstream.history.handlers["rpc/chat_record_turn"](call);
        return { reset: true };
      },
    });
    const first = await ask(worker.url, user, sent);
    assert.equal(first.events.at(-1).persisted, false);
    upstream.behave(user, {});
    const restarted = await startTestWorker(upstream);
    const second = await ask(restarted.url, user, sent).finally(() => restarted.close());
    assert.equal(second.events.at(-1).persisted, true);
    assert.equal(second.events.at(-1).message_id, upstream.history.messagesOf(user)[1].id);
    assert.equal(second.events[0].session_id, first.events[0].session_id);
    assert.equal(upstream.history.sessionsOf(user).length, 1);
    assert.equal(upstream.history.messagesOf(user).length, 2);
  });

  test("a turn is written once if the response to the first attempt is lost", async () => {
    const user = newUser();
    let tries = 0;
    upstream.behave(user, {
      "rpc/chat_record_turn": (call) => {
        tries += 1;
        const written = upstream.history.handlers["rpc/chat_record_turn"](call);
        return tries === 1 ? { reset: true } : written;
      },
    });
    const { events } = await ask(worker.url, user);
    assert.equal(events.at(-1).persisted, true);
    assert.equal(tries, 2);
    const [first, second] = upstream.callsOf(user, "rpc/chat_record_turn");
    assert.deepEqual(second.body, first.body);
    assert.equal(upstream.history.sessionsOf(user).length, 1);
    assert.equal(upstream.history.messagesOf(user).length, 2);
  });

  test("two users with the same message id have separate turns", async () => {
    const users = [newUser(), newUser()];
    const sent = question();
    const replies = await Promise.all(users.map((user) => ask(worker.url, user, sent)));
    const sessions = new Set(replies.map(({ events }) => events[0].session_id));
    const answers = new Set(replies.map(({ events }) => events.at(-1).message_id));
    assert.deepEqual([sessions.size, answers.size], [2, 2]);
    for (const user of users) assert.equal(upstream.history.messagesOf(user).length, 2);
  });

  test("five concurrent repeats create one session with two messages", async () => {
    const user = newUser();
    const sent = question();
    const replies = await Promise.all(Array.from({ length: 5 }, () => ask(worker.url, user, sent)));
    for (const { events } of replies) assert.deepEqual(events, replies[0].events);
    assert.equal(upstream.history.sessionsOf(user).length, 1);
    assert.equal(upstream.history.messagesOf(user).length, 2);
    assert.equal(upstream.callsOf(user, "rpc/chat_record_turn").length, 1);
  });

  test("a turn in another user's session is rejected and writes nothing", async () => {
    const [owner, intruder] = [newUser(), newUser()];
    const session = upstream.history.addSession(owner);
    const reply = await ask(worker.url, intruder, question({ session_id: session.id }));
    assertError(reply, 404, "not_found");
    assert.deepEqual(upstream.callsOf(intruder, "rpc/chat_record_turn"), []);
    assert.deepEqual(upstream.history.messagesOf(owner), []);
  });

  test("a turn whose session is deleted meanwhile is not stored", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    upstream.behave(user, {
      "rpc/match_chunks": async () => {
        await send(worker.url, `/api/sessions/${session.id}`, { method: "DELETE", user });
        return { body: [passage()], delay: 50 };
      },
      // The session existed when the question arrived.
      chat_sessions: (call) =>
        call.method === "GET" ? { body: [{ id: session.id }] } : upstream.history.handlers.chat_sessions(call),
    });
    const { events } = await ask(worker.url, user, question({ session_id: session.id }));
    assert.deepEqual([events.at(-1).type, events.at(-1).persisted], ["answer_end", false]);
    assert.deepEqual(upstream.history.sessionsOf(user), []);
  });
});

describe("sessions", () => {
  test("sessions come newest first, in pages without gaps or duplicates", async () => {
    const user = newUser();
    const time = "2026-05-05T05:05:05.123456+00:00";
    for (let i = 0; i < 7; i++) upstream.history.addSession(user);
    // Some have the same microsecond and are ordered by id.
    for (let i = 0; i < 6; i++) upstream.history.addSession(user, { updated_at: time });
    for (const limit of [1, 2, 5, 12, 13, 14]) {
      const pages = await readPages(user, "/api/sessions", "sessions", limit);
      const all = pages.flat();
      assert.equal(new Set(ids(all)).size, 13, `limit ${limit}`);
      assert.equal(all.length, 13);
      assert.equal(pages.length, Math.ceil(13 / limit));
      const times = all.map(({ updated_at: updated }) => updated);
      assert.deepEqual(times, times.toSorted().reverse());
    }
  });

  test("a page has 20 sessions by default and at most 100", async () => {
    const user = newUser();
    for (let i = 0; i < 105; i++) upstream.history.addSession(user);
    assert.equal((await get(user, "/api/sessions")).json.sessions.length, 20);
    assert.equal((await get(user, "/api/sessions?limit=100")).json.sessions.length, 100);
    assertError(await get(user, "/api/sessions?limit=101"), 400, "invalid_request");
    assert.equal((await get(user, "/api/sessions?unknown=1&limit=3")).json.sessions.length, 3);
  });

  test("a user without sessions gets an empty page", async () => {
    assert.deepEqual((await get(newUser(), "/api/sessions")).json, { sessions: [], next_cursor: null });
  });

  test("a session moves to the top with a new turn", async () => {
    const user = newUser();
    const [older, newer] = [upstream.history.addSession(user), upstream.history.addSession(user)];
    assert.deepEqual(ids((await get(user, "/api/sessions")).json.sessions), [newer.id, older.id]);
    await ask(worker.url, user, question({ session_id: older.id }));
    assert.deepEqual(ids((await get(user, "/api/sessions")).json.sessions), [older.id, newer.id]);
  });

  test("a session has only the documented fields", async () => {
    const user = newUser();
    const { user_id: _, ...expected } = upstream.history.addSession(user, { title: null });
    const { id } = expected;
    assert.deepEqual((await get(user, `/api/sessions/${id}`)).json, expected);
    assert.deepEqual((await get(user, "/api/sessions")).json.sessions, [expected]);
  });

  test("a session is found by an upper-case id", async () => {
    const user = newUser();
    const { id } = upstream.history.addSession(user);
    assert.equal((await get(user, `/api/sessions/${id.toUpperCase()}`)).json.id, id);
  });

  test("sessions are requested with the user's token and filtered by the user", async () => {
    const user = newUser();
    await get(user, "/api/sessions");
    const [call] = upstream.callsOf(user, "chat_sessions");
    assert.equal(call.headers.apikey, "publishable-key");
    assert.equal(call.query.user_id, `eq.${user}`);
  });

  test("a session is renamed with the trimmed title", async () => {
    const user = newUser();
    const { id } = upstream.history.addSession(user);
    const rename = (title) => send(worker.url, `/api/sessions/${id}`, { method: "PATCH", user, body: { title } });
    const reply = await rename("  Returns & refunds \n");
    assert.deepEqual([reply.status, reply.json.id, reply.json.title], [200, id, "Returns & refunds"]);
    assert.equal(upstream.history.sessionsOf(user)[0].title, "Returns & refunds");
    for (const title of ["é".repeat(200), "😀".repeat(200), `${"x".repeat(200)}   `]) {
      assert.equal((await rename(title)).json.title, title.trim());
    }
  });

  test("a title that looks like a query is stored verbatim", async () => {
    const user = newUser();
    const [{ id }, other] = [upstream.history.addSession(user), upstream.history.addSession(user)];
    for (const title of [
      "id=eq.1&user_id=neq.x",
      "),or=(id.neq.x",
      "'; drop table chat_sessions; --",
      '{"a":1}',
      "%00",
      "*",
    ]) {
      const reply = await send(worker.url, `/api/sessions/${id}`, { method: "PATCH", user, body: { title } });
      assert.equal(reply.json.title, title);
    }
    const untouched = upstream.history.sessionsOf(user).find((row) => row.id === other.id);
    assert.equal(untouched.title, other.title);
  });

  test("a session is deleted once, then it is not found", async () => {
    const user = newUser();
    const { id } = upstream.history.addSession(user);
    const kept = upstream.history.addSession(user);
    const remove = () => send(worker.url, `/api/sessions/${id}`, { method: "DELETE", user });
    const deleted = await remove();
    assert.deepEqual([deleted.status, deleted.text], [204, ""]);
    assertError(await remove(), 404, "not_found");
    assertError(await get(user, `/api/sessions/${id}`), 404, "not_found");
    assert.deepEqual(ids(upstream.history.sessionsOf(user)), [kept.id]);
  });

  test("another user's session is not found by any method", async () => {
    const [owner, intruder] = [newUser(), newUser()];
    const session = upstream.history.addSession(owner, { title: "Mine" });
    upstream.history.addMessage(session);
    const path = `/api/sessions/${session.id}`;
    const attempts = [
      get(intruder, path),
      get(intruder, `${path}/messages`),
      send(worker.url, path, { method: "PATCH", user: intruder, body: { title: "Yours" } }),
      send(worker.url, path, { method: "DELETE", user: intruder }),
    ];
    const unknown = await get(intruder, `/api/sessions/${NOWHERE}`);
    for (const reply of await Promise.all(attempts)) {
      assertError(reply, 404, "not_found");
      assert.equal(reply.json.message, unknown.json.message, "the same message as for a session that never existed");
    }
    assert.deepEqual(upstream.history.sessionsOf(owner), [session]);
    assert.equal(session.title, "Mine");
  });
});

describe("messages", () => {
  test("messages come oldest first, in pages without gaps or duplicates", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    const other = upstream.history.addSession(user);
    upstream.history.addMessage(other);
    const written = Array.from({ length: 11 }, (_, n) => upstream.history.addMessage(session, { content: `${n}` }));
    for (const limit of [1, 3, 10, 11, 12]) {
      const pages = await readPages(user, `/api/sessions/${session.id}/messages`, "messages", limit);
      assert.deepEqual(ids(pages.flat()), ids(written), `limit ${limit}`);
      assert.equal(pages.length, Math.ceil(11 / limit));
    }
  });

  test("a page has 50 messages by default and at most 200", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    for (let i = 0; i < 205; i++) upstream.history.addMessage(session);
    const path = `/api/sessions/${session.id}/messages`;
    assert.equal((await get(user, path)).json.messages.length, 50);
    assert.equal((await get(user, `${path}?limit=200`)).json.messages.length, 200);
  });

  for (const { name, count, content } of [
    { name: "long", count: 60, content: "x".repeat(60_000) },
    // Each two of them are twice as large as the maximum page, as JSON.
    { name: "as long as they can be", count: 5, content: "\u0001".repeat(95_000) },
  ]) {
    test(`messages that are ${name} come in pages of at most 1 MiB, without gaps or duplicates`, async () => {
      const user = newUser();
      const session = upstream.history.addSession(user);
      const written = Array.from({ length: count }, () => upstream.history.addMessage(session, { content }));
      const pages = await readPages(user, `/api/sessions/${session.id}/messages`, "messages", 200);
      assert.deepEqual(ids(pages.flat()), ids(written));
      for (const page of pages) assert.ok(JSON.stringify(page).length <= 2 ** 20, `${page.length} messages`);
    });
  }

  test("an empty session has an empty page of messages", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    const { json } = await get(user, `/api/sessions/${session.id}/messages`);
    assert.deepEqual(json, { messages: [], next_cursor: null });
  });

  test("a message has only the documented fields", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    const { id, role, content, citations, created_at } = upstream.history.addMessage(session);
    const { json } = await get(user, `/api/sessions/${session.id}/messages`);
    assert.deepEqual(json.messages, [{ id, role, content, citations, created_at }]);
  });

  test("each answer says whether it is hedged", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    for (const hedged of [true, false]) upstream.history.addMessage(session, { role: "assistant", hedged });
    const { json } = await get(user, `/api/sessions/${session.id}/messages`);
    assert.deepEqual(
      json.messages.map(({ hedged }) => hedged),
      [true, false],
    );
  });

  test("each citation says whether its document is still available", async () => {
    const user = newUser();
    const gone = crypto.randomUUID();
    const disabled = upstream.library.addDocument({ enabled: false });
    const citations = [DOCUMENT_ID, gone, disabled.id].map((id, n) => citation(id, n + 1));
    const session = upstream.history.addSession(user);
    upstream.history.addMessage(session, { role: "assistant", content: "a [1] [2] [3]", citations });
    const { json } = await get(user, `/api/sessions/${session.id}/messages`);
    const [message] = json.messages;
    assert.deepEqual(
      message.citations.map(({ available }) => available),
      [true, false, false],
    );
    for (const { download_url: url } of message.citations) assert.equal(url, undefined);
    assert.equal(upstream.callsOf(user, "rpc/chat_documents").length, 1, "one look-up for the whole page");
  });

  const ofNewDocuments = (count) =>
    Array.from({ length: count }, (_, n) => citation(crypto.randomUUID(), (n % 50) + 1));
  const MANY = {
    "in many messages": Array(60).fill(10),
    "in one message, past what the Worker writes": [1, 600, 1],
    "to the last that fits, and one more": [250, 250, 1],
  };
  for (const [name, counts] of Object.entries(MANY)) {
    test(`a page of messages cites at most 500 documents: ${name}`, async () => {
      const user = newUser();
      const session = upstream.history.addSession(user);
      const written = counts.map((count) =>
        upstream.history.addMessage(session, { role: "assistant", citations: ofNewDocuments(count) }),
      );
      const read = [];
      let cursor = "";
      do {
        const known = upstream.callsOf(user, "rpc/chat_documents").length;
        const { json } = await get(user, `/api/sessions/${session.id}/messages?limit=200${cursor}`);
        const lookups = upstream.callsOf(user, "rpc/chat_documents").slice(known);
        assert.equal(lookups.length, 1);
        assert.ok(lookups[0].body.ids.length <= 500);
        assert.ok(json.messages.length > 0);
        read.push(...json.messages);
        cursor = json.next_cursor && `&cursor=${json.next_cursor}`;
      } while (cursor);
      assert.deepEqual(ids(read), ids(written));
      assert.deepEqual(
        read.map(({ citations }) => citations.length),
        counts,
      );
    });
  }

  test("messages with few documents fill their pages", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    for (const count of [250, 250]) {
      upstream.history.addMessage(session, { role: "assistant", citations: ofNewDocuments(count) });
    }
    const { json } = await get(user, `/api/sessions/${session.id}/messages`);
    assert.deepEqual([json.messages.length, json.next_cursor], [2, null]);
  });
});

describe("stored citations that the Worker did not write", () => {
  const real = citation(DOCUMENT_ID, 1);
  const without = (name) => Object.fromEntries(Object.entries(real).filter(([key]) => key !== name));
  /** What an administrator can write into the history. */
  const NO_CITATIONS = [
    null,
    7,
    "javascript:alert(1)",
    [],
    [real],
    {},
    { url: "javascript:alert(1)", download_url: "javascript:alert(1)" },
    without("document_id"),
    without("chunk_id"),
    without("index"),
    without("title"),
    without("excerpt"),
    without("score"),
    { ...real, document_id: 7 },
    { ...real, document_id: null },
    { ...real, document_id: "../../rpc/chat_config" },
    { ...real, document_id: `${DOCUMENT_ID}),or(id.neq.x` },
    { ...real, index: "1" },
    { ...real, index: -1 },
    { ...real, title: {} },
    { ...real, excerpt: ["x"] },
    { ...real, score: "0.8" },
    { ...real, quotes: "none" },
    { ...real, quotes: [] },
    { ...real, quotes: [{ ...real.quotes[0], start: "0" }] },
    { ...real, quotes: [{ ...real.quotes[0], kind: "poem" }] },
    { ...real, quotes: [{ ...real.quotes[0], pieces: undefined }] },
    { ...real, url: 7 },
    { ...real, strength: "certain" },
  ];
  const BAD_LINKS = [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "JaVaScRiPt:alert(1)//https://",
    "data:text/html,<script>alert(1)</script>",
    "//evil.test/",
    "vbscript:x",
    "",
  ];

  async function read(citations, use, { linkMode = "none" } = {}) {
    upstream.settings.link_mode = linkMode;
    const user = newUser();
    const session = upstream.history.addSession(user);
    upstream.history.addMessage(session, { role: "assistant", citations });
    await withWorker(upstream, {}, async ({ url }) => {
      const { status, json } = await send(url, `/api/sessions/${session.id}/messages`, { user });
      assert.equal(status, 200);
      await use(json.messages[0].citations, { url, user });
    });
  }

  test("invalid citations are left out, and a valid one between them is kept", async () => {
    await read([...NO_CITATIONS, real, ...NO_CITATIONS], async (citations, { user }) => {
      assert.deepEqual(citations, [{ ...real, available: true }]);
      assert.equal(upstream.callsOf(user, "rpc/chat_documents").length, 1);
    });
  });

  test("invalid citations are left out even if there are no others", async () => {
    await read(NO_CITATIONS, async (citations, { user }) => {
      assert.deepEqual(citations, []);
      assert.deepEqual(upstream.callsOf(user, "rpc/chat_documents"), []);
    });
  });

  test("all of sixty citations say whether their document is available", async () => {
    const forged = Array.from({ length: 60 }, (_, n) => ({
      ...citation(n % 2 ? DOCUMENT_ID : NOWHERE, (n % 50) + 1),
      available: n % 2 === 0,
    }));
    await read(forged, async (citations) => {
      assert.ok(citations.length > 0);
      for (const { document_id: id, available } of citations) assert.equal(available, id === DOCUMENT_ID);
    });
  });

  for (const mode of ["none", "authenticated", "public"]) {
    test(`stored links are replaced or checked, in link mode ${mode}`, async () => {
      const forged = BAD_LINKS.flatMap((link) => [
        { ...real, url: link },
        { ...real, download_url: link },
        { ...citation(NOWHERE, 2), url: link, download_url: "https://evil.test/file.exe" },
      ]);
      const good = { ...real, url: "HTTPS://www.example.com/refunds", download_url: "https://evil.test/file.exe" };
      await read(
        [...forged, good],
        async (citations, { url }) => {
          for (const citation of citations) {
            if (citation !== citations.at(-1)) assert.equal(citation.url, undefined);
            const ours = { authenticated: `${url}/api/documents/${DOCUMENT_ID}/`, public: `${upstream.url}/storage/` };
            if (citation.available && ours[mode]) assert.ok(citation.download_url.startsWith(ours[mode]));
            else assert.equal(citation.download_url, undefined);
          }
          assert.equal(citations.at(-1).url, good.url);
        },
        { linkMode: mode },
      );
    });
  }

  test("messages of the user have no citations", async () => {
    const user = newUser();
    const session = upstream.history.addSession(user);
    upstream.history.addMessage(session, { role: "user", citations: [real] });
    const { json } = await get(user, `/api/sessions/${session.id}/messages`);
    assert.deepEqual(json.messages[0].citations, []);
  });
});

/** A citation as stored in the history. */
function citation(document_id, index) {
  return {
    index,
    chunk_id: crypto.randomUUID(),
    document_id,
    title: "Refunds",
    section: "Refunds",
    score: 0.8,
    strength: "strong",
    excerpt: "Refunds are free.",
    quotes: [
      { start: 0, end: 17, text: "Refunds are free.", kind: "sentence", pieces: [{ text: "Refunds are free." }] },
    ],
  };
}

describe("feedback", () => {
  /** Asks a question and returns the path of the feedback on its answer. */
  async function answered(user) {
    const { events } = await ask(worker.url, user);
    return `/api/sessions/${events[0].session_id}/messages/${events.at(-1).message_id}/feedback`;
  }
  const put = (user, path, body) => send(worker.url, path, { method: "PUT", user, body });
  const shown = async (user, path) => {
    const { json } = await get(user, path.split("/").slice(0, 5).join("/"));
    return json.messages[1].feedback;
  };

  test("feedback is stored with its answer, replaced, and taken back", async () => {
    const user = newUser();
    const path = await answered(user);
    assert.equal(await shown(user, path), undefined);
    const up = await put(user, path, { rating: "up", comment: " Thank you! " });
    assert.deepEqual([up.status, up.json], [200, { rating: "up", comment: "Thank you!" }]);
    assert.deepEqual(await shown(user, path), up.json);
    const down = await put(user, path, { rating: "down", reason: "wrong" });
    assert.deepEqual(await shown(user, path), down.json);
    for (let time = 0; time < 2; time++) {
      const removed = await send(worker.url, path, { method: "DELETE", user });
      assert.deepEqual([removed.status, removed.text], [204, ""]);
      assert.equal(await shown(user, path), undefined);
    }
  });

  test("the vector of the question reaches the database, with the secret of the Worker", async () => {
    const user = newUser();
    const path = await answered(user);
    const { embedding } = question();
    await put(user, path, { rating: "down", embedding });
    const [{ body }] = upstream.callsOf(user, "rpc/chat_give_feedback");
    assert.deepEqual([body.rating, body.reason, body.comment], ["down", null, null]);
    assert.equal(JSON.parse(body.embedding).length, 384);
  });

  test("only answers of the user's own history take feedback", async () => {
    const [owner, intruder] = [newUser(), newUser()];
    const path = await answered(owner);
    const [session] = upstream.history.sessionsOf(owner);
    const asked = upstream.history.messagesOf(owner).find(({ role }) => role === "user");
    const refused = upstream.history.addMessage(session, { role: "assistant", refusal: "no_match" });
    const of = (id) => `/api/sessions/${session.id}/messages/${id}/feedback`;
    for (const [user, target] of [
      [intruder, path],
      [owner, of(asked.id)],
      [owner, of(refused.id)],
      [owner, of(NOWHERE)],
      [owner, path.replace(session.id, NOWHERE)],
    ]) {
      assertError(await put(user, target, { rating: "up" }), 404, "not_found");
      assertError(await send(worker.url, target, { method: "DELETE", user }), 404, "not_found");
    }
    assert.equal(await shown(owner, path), undefined);
  });

  test("wrong bodies are rejected before anything is written", async () => {
    const user = newUser();
    const path = await answered(user);
    for (const body of [
      {},
      { rating: "maybe" },
      { rating: "up", reason: "wrong" },
      { rating: "down", reason: "boring" },
      { rating: "down", comment: "é".repeat(1001) },
      { rating: "down", comment: "a\0b" },
      { rating: "down", embedding: [1] },
    ]) {
      assertError(await put(user, path, body), 400, "invalid_request");
    }
    assert.equal(upstream.callsOf(user, "rpc/chat_give_feedback").length, 0);
  });
});

// The settings of the database, and what the widget gets of them; and variables that are not valid.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { ask, assertError, question, send } from "./support/client.mjs";
import { MINUTE, SECOND, START, startClockWorker } from "./support/clock.mjs";
import { DEFAULT_SETTINGS, NOBODY, passage, sentence, startUpstream, weakPassage } from "./support/upstream.mjs";
import { withSettings, withWorker } from "./support/worker.mjs";

let upstream;

before(async () => {
  upstream = await startUpstream();
});
after(() => upstream?.close());
afterEach(() => {
  Object.assign(upstream.settings, DEFAULT_SETTINGS);
  upstream.behave(NOBODY, {});
});

/** A passage that answers; the passage and its only sentence have this cosine. */
function passageOf(similarity) {
  const content = "Refunds are paid within 5 days.";
  return passage({ content, similarity, sentences: [sentence(content, content, similarity)] });
}

function userWho(finds) {
  const user = crypto.randomUUID();
  upstream.behave(user, { "rpc/match_chunks": () => ({ body: finds }) });
  return user;
}

const kindOf = async (worker, finds) => (await ask(worker.url, userWho(finds))).events.at(-1).type;
const configOf = async (worker) => (await send(worker.url, "/api/config")).json;
const readsOf = () => upstream.callsOf(NOBODY, "rpc/chat_config").length;

describe("GET /api/config", () => {
  test("GET /api/config is public, cacheable for a minute, and has the defaults", async () => {
    await withSettings(upstream, {}, async (worker) => {
      const reply = await send(worker.url, "/api/config");
      assert.equal(reply.headers.get("cache-control"), "public, max-age=60");
      assert.deepEqual(reply.json, {
        title: null,
        greeting: null,
        suggested_questions: [],
        citations: true,
        link_mode: "none",
        answer_mode: "extractive",
        model: "test-model",
        dimensions: 384,
        max_message_chars: 4000,
      });
      const head = await send(worker.url, "/api/config", { method: "HEAD" });
      assert.deepEqual([head.status, head.text], [200, ""]);
    });
  });

  test("GET /api/config contains the public settings of the database and no others", async () => {
    const settings = {
      greeting: "Hello!",
      suggested_questions: ["Where?", "When?"],
      citations: false,
      link_mode: "public",
      refusal_message: "secret refusal",
      evidence_threshold: 0.77,
    };
    await withSettings(upstream, settings, async (worker) => {
      const reply = await send(worker.url, "/api/config");
      const { greeting, suggested_questions, citations, link_mode } = reply.json;
      assert.deepEqual(
        [greeting, suggested_questions, citations, link_mode],
        ["Hello!", ["Where?", "When?"], false, "public"],
      );
      assert.ok(!/secret refusal|0\.77/.test(reply.text));
    });
  });

  test("GET /api/config has no model if the knowledge base is empty", async () => {
    upstream.behave(NOBODY, { "rpc/chat_config": () => ({ body: { model: null, settings: DEFAULT_SETTINGS } }) });
    await withSettings(upstream, {}, async (worker) => assert.equal((await configOf(worker)).model, null));
  });

  test("the settings are read with the publishable key only", async () => {
    await withSettings(upstream, {}, async (worker) => {
      await configOf(worker);
      const call = upstream.callsOf(NOBODY, "rpc/chat_config").at(-1);
      assert.deepEqual([call.method, call.headers.apikey], ["POST", "publishable-key"]);
      assert.equal(call.headers.authorization, undefined);
    });
  });
});

describe("settings of the database", () => {
  test("evidence_threshold sets the similarity threshold", async () => {
    await withSettings(upstream, { evidence_threshold: 0.9 }, async (worker) => {
      assert.equal(await kindOf(worker, [passageOf(0.89)]), "refusal");
      assert.equal(await kindOf(worker, [passageOf(0.9)]), "answer_end");
    });
  });

  test("evidence_confidence sets the confidence threshold", async () => {
    await withSettings(upstream, { evidence_confidence: 0 }, async (worker) => {
      assert.equal(await kindOf(worker, [weakPassage()]), "answer_end");
    });
    await withSettings(upstream, { evidence_confidence: 1 }, async (worker) => {
      assert.equal(await kindOf(worker, [passage()]), "refusal");
    });
  });

  test("the calibration of the knowledge base affects the confidence", async () => {
    const content = "Our shop opened in 1990.";
    const near = passage({
      content,
      similarity: 0.45,
      lexical: 0.2,
      score: 0.45,
      sentences: [sentence(content, content, 0.5)],
    });
    const kinds = [
      [{ mean: -6, deviation: 1 }, "answer_end"],
      [{ mean: 0, deviation: 1 }, "refusal"],
    ];
    for (const [calibration, kind] of kinds) {
      upstream.behave(NOBODY, {
        "rpc/chat_config": () => ({ body: { model: "test-model", settings: DEFAULT_SETTINGS, calibration } }),
      });
      await withWorker(upstream, {}, async (worker) => assert.equal(await kindOf(worker, [near]), kind));
    }
  });

  test("match_count sets the number of passages", async () => {
    await withSettings(upstream, { match_count: 9 }, async (worker) => {
      const user = userWho([passage()]);
      await ask(worker.url, user);
      assert.equal(upstream.callsOf(user, "rpc/match_chunks")[0].body.match_count, 9);
    });
  });

  test("refusal_message and refusal_suggestions replace the defaults", async () => {
    const settings = { refusal_message: "Ask Ada.", refusal_suggestions: ["Where is Ada?"] };
    await withSettings(upstream, settings, async (worker) => {
      const [refusal] = (await ask(worker.url, userWho([weakPassage()]))).events;
      assert.deepEqual([refusal.message, refusal.suggestions], ["Ask Ada.", [{ type: "ask", text: "Where is Ada?" }]]);
    });
  });

  test("citations: false removes sources whatever the client requests", async () => {
    await withSettings(upstream, { citations: false, link_mode: "public" }, async (worker) => {
      const user = userWho([passage()]);
      const { events } = await ask(worker.url, user, question({ include_citations: true }));
      assert.equal(events[1].text, "Refunds are paid within 5 days.");
      assert.deepEqual([events[2].citations, events[2].also_found, events[2].referenced_indices], [[], [], []]);
      assert.deepEqual(upstream.history.messagesOf(user)[1].citations, []);
      assert.deepEqual(upstream.callsOf(user, "rpc/chat_documents"), []);
    });
  });

  test("a client can request an answer without sources", async () => {
    await withSettings(upstream, { citations: true }, async (worker) => {
      const { events } = await ask(worker.url, userWho([passage()]), question({ include_citations: false }));
      assert.deepEqual(events[2].citations, []);
    });
  });
});

describe("variables of the Worker", () => {
  const INVALID = {
    CHAT_RATE_LIMIT: "-1",
    CHAT_UPSTREAM_TIMEOUT_MS: "soon",
    SUPABASE_URL: "ftp://secret-value",
    SUPABASE_JWT_SECRET: "secret-value",
    SUPABASE_JWKS_URL: "secret-value",
    CHAT_WORKER_SECRET: "secret-value",
  };
  for (const [name, value] of Object.entries(INVALID)) {
    test(`an invalid ${name} "${value.slice(0, 20)}" is reported in the log and not to the client`, async () => {
      await withWorker(upstream, { [name]: value }, async (worker) => {
        const reply = await ask(worker.url, userWho([passage()]));
        assertError(reply, 500, "internal");
        assert.ok(!reply.text.includes(name) && !reply.json.message.includes(value));
        const { detail } = await worker.lineOf(reply);
        assert.ok(detail.includes(name), detail);
        assert.ok(!worker.log.some((line) => line.includes("secret-value")));
        assert.equal((await send(worker.url, "/api/health")).status, 200);
      });
    });
  }
});

describe("reading the settings", () => {
  test("the settings are read once a minute", async () => {
    const worker = await startClockWorker(upstream);
    try {
      const before = readsOf();
      upstream.settings.greeting = "One";
      await Promise.all([configOf(worker), worker.ask(userWho([passage()]))]);
      for (let i = 0; i < 10; i++) await worker.ask(userWho([passage()]));
      assert.ok(readsOf() - before <= 2, "two at once may both have read");
      const read = readsOf();

      upstream.settings.greeting = "Two";
      await worker.setTime(START + MINUTE - 1);
      assert.equal((await configOf(worker)).greeting, "One");
      assert.equal(readsOf(), read);
      await worker.setTime(START + MINUTE);
      assert.equal((await configOf(worker)).greeting, "Two");
      assert.equal(readsOf(), read + 1);
    } finally {
      await worker.close();
    }
  });

  /** Sixty requests to a cold Worker take about a second on two idle cores. */
  const PATIENCE_MS = 3000;

  /** The statuses of sixty concurrent requests: half for the settings, half questions. */
  async function sixty(worker) {
    const requests = Array.from({ length: 60 }, (_, n) =>
      n % 2 ? send(worker.url, "/api/config") : worker.ask(userWho([passage()])),
    );
    return new Set((await Promise.all(requests)).map(({ status }) => status));
  }

  /** A cold Worker with a clock. */
  async function cold(use) {
    const worker = await startClockWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: String(PATIENCE_MS) });
    const known = readsOf();
    try {
      await use(worker, () => readsOf() - known);
    } finally {
      await worker.close();
    }
  }

  test("concurrent requests share one read of the settings", async () => {
    const body = { model: "test-model", settings: DEFAULT_SETTINGS };
    upstream.behave(NOBODY, { "rpc/chat_config": () => ({ delay: 200, body }) });
    await cold(async (worker, reads) => {
      assert.deepEqual(await sixty(worker), new Set([200]));
      assert.equal(reads(), 1);
    });
  });

  const FAILING = {
    fail: [{ status: 500 }, 503, "upstream_unavailable"],
    hang: [{ hang: true }, 504, "upstream_timeout"],
  };
  for (const [name, [fault, status, code]] of Object.entries(FAILING)) {
    test(`settings that ${name} are not read again within a second, and requests fail fast`, async () => {
      await cold(async (worker, reads) => {
        upstream.behave(NOBODY, { "rpc/chat_config": () => fault });
        assert.deepEqual(await sixty(worker), new Set([status]));
        assert.equal(reads(), 1);

        // A read that starts now would wait for the timeout.
        upstream.behave(NOBODY, { "rpc/chat_config": () => ({ hang: true }) });
        await worker.setTime(START + SECOND - 1);
        const started = performance.now();
        const replies = [await send(worker.url, "/api/config"), await worker.ask(userWho([passage()]))];
        const ms = Math.round(performance.now() - started);
        for (const reply of replies) assertError(reply, status, code);
        assert.ok(ms < PATIENCE_MS / 2, `took ${ms} ms`);
        assert.equal(reads(), 1);

        upstream.behave(NOBODY, {});
        await worker.setTime(START + SECOND);
        assert.deepEqual(await sixty(worker), new Set([200]));
        assert.equal(reads(), 2);
      });
    });
  }

  const WRONG = {
    "a threshold beyond one": { evidence_threshold: 7 },
    "a threshold below zero": { evidence_threshold: -7 },
    "a match count of thousands": { match_count: 4000 },
  };
  for (const [name, settings] of Object.entries(WRONG)) {
    test(`invalid settings are not used: ${name}`, async () => {
      await withSettings(upstream, settings, async (worker) => {
        const user = userWho([passage()]);
        assert.equal((await ask(worker.url, user)).events.at(-1).type, "answer_end");
        assert.ok(upstream.callsOf(user, "rpc/match_chunks")[0].body.match_count <= 50);
        assert.equal(await kindOf(worker, [passageOf(0.34)]), "refusal");
      });
    });
  }

  const UNREADABLE = {
    "no object": { body: [] },
    "no settings": { body: { model: null } },
    "an unknown link mode": { body: { model: null, settings: { ...DEFAULT_SETTINGS, link_mode: "secret" } } },
    "numbers as texts": { body: { model: null, settings: { ...DEFAULT_SETTINGS, match_count: "5" } } },
  };
  for (const [name, reply] of Object.entries(UNREADABLE)) {
    test(`invalid settings are an upstream error: ${name}`, async () => {
      upstream.behave(NOBODY, { "rpc/chat_config": () => reply });
      await withSettings(upstream, {}, async (worker) => {
        assertError(await send(worker.url, "/api/config"), 503, "upstream_unavailable");
        assertError(await ask(worker.url, userWho([passage()])), 503, "upstream_unavailable");
      });
    });
  }
});

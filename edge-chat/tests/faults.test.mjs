// Every fault of Supabase at every step that depends on it: the response, its latency, and the number of attempts.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ask, assertError, bodyOf, eventually, question, send } from "./support/client.mjs";
import { DAY, SECOND, START, startClockWorker } from "./support/clock.mjs";
import { FAULTS, HUGE_BYTES } from "./support/faults.mjs";
import { STEPS, key, tokenAt } from "./support/steps.mjs";
import { NOBODY, startUpstream } from "./support/upstream.mjs";
import { withWorker } from "./support/worker.mjs";

const RESULT = new URL("../../target/bench/faults.json", import.meta.url);
const TIMEOUT_MS = 1500;
/** The maximum latency of a response, whatever Supabase does. */
const MAX_RESPONSE_MS = 10_000;
/** At most 4 MiB of a response are read; the rest are socket buffers. */
const MAX_SENT_BYTES = 16 * 2 ** 20;

const CODES = { 503: "upstream_unavailable", 504: "upstream_timeout" };
/** The outcome of each case. */
const outcomes = [];

/** Runs a step with a separate Worker and Supabase. `nextDay` separates the cases so that they do not affect each other. */
async function withStep(/** @type {{ linkMode?: string }} */ { linkMode = "none" }, use) {
  // One connection per request: the runtime itself retries idempotent requests that fail on a reused connection, and only the
  // Worker's own attempts are counted here.
  const upstream = await startUpstream({ keepsConnections: false });
  upstream.keys.push(key.jwk);
  upstream.settings.link_mode = linkMode;
  const worker = await startClockWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS) });
  let day = 0;
  /** Moves the clock by days, after which keys and settings have expired and the circuits are closed. */
  const nextDay = async () => {
    day += 2;
    await worker.runFrom(START + day * DAY);
    assert.equal((await send(worker.url, "/api/ready")).status, 200);
    await worker.runFrom(START + (day + 1) * DAY);
  };
  try {
    await use({ upstream, worker, nextDay });
  } finally {
    await worker.close();
    upstream.close();
  }
}

/** Runs one case. `replyTo(n)` returns the fault of the n-th call, if any. */
async function run({ upstream, worker }, step, replyTo) {
  const user = crypto.randomUUID();
  const owner = "user" in step ? step.user : user;
  const known = upstream.callsOf(owner, step.resource).length;
  let calls = 0;
  const usual = upstream.defaults[step.resource];
  const behaviour = {
    ...step.around,
    [step.resource]: async (call) => {
      const fault = replyTo(calls++);
      // A fault in the body needs a response with a body.
      const hasBody = fault?.cut || fault?.huge;
      return { ...(await usual(call)), ...(hasBody && { status: 200 }), ...fault };
    },
  };
  upstream.behave(owner, behaviour);
  const started = performance.now();
  const reply = await step.request(worker, user, upstream);
  const ms = Math.round(performance.now() - started);
  // Waits for the work after the response too.
  await worker.lineOf(reply);
  upstream.behave(owner, {});
  return { reply, ms, calls: upstream.callsOf(owner, step.resource).slice(known) };
}

const remember = (step, fault, { reply, ms, calls }) => {
  const end = reply.events.at(-1);
  outcomes.push({
    step,
    fault,
    status: reply.status,
    code: reply.json?.code ?? null,
    end: end?.type ?? null,
    persisted: end?.persisted ?? null,
    tries: calls.length,
    ms,
  });
};

describe("matrix of steps and faults", { concurrency: 3 }, () => {
  for (const [name, step] of Object.entries(STEPS)) {
    test(`${name}: every fault has the documented outcome`, async (t) => {
      await withStep(step, async (context) => {
        for (const [faultName, fault] of Object.entries(FAULTS)) {
          if (step.skip?.(fault)) continue;
          const isFine = fault.status === 200 || (fault.inBody && step.readsBody === false);
          await t.test(faultName, async () => {
            await context.nextDay();
            const outcome = await run(context, step, () => fault.reply);
            remember(name, faultName, outcome);
            const { reply, ms, calls } = outcome;
            assert.ok(ms < MAX_RESPONSE_MS, `took ${ms} ms`);
            const tries = fault.passes && step.isIdempotent ? 2 : 1;
            assert.equal(calls.length, fault.reply.huge ? (step.shrinks ?? tries) : tries, "tries");
            if (isFine) assert.ok(reply.status < 300, `status ${reply.status}`);
            else if (step.survives) {
              assert.equal(reply.status, 200, reply.text);
              step.survives(reply);
            } else {
              const status = fault.status === 504 ? (step.hanging ?? 504) : fault.status;
              assertError(reply, status, CODES[status]);
            }
            assert.ok(!reply.text.includes("secret"));
            if (fault.reply.huge) {
              for (const call of calls) assert.ok(call.sent < MAX_SENT_BYTES, `${call.sent} bytes were sent`);
            }
            assert.ok(
              !context.upstream.calls.some(({ resource }) => resource === "/trap"),
              "the redirect was followed",
            );
          });

          if (!fault.passes || !step.isIdempotent) continue;
          await t.test(`${faultName}, on the first attempt only`, async () => {
            await context.nextDay();
            const outcome = await run(context, step, (call) => (call === 0 ? fault.reply : undefined));
            const { reply, ms, calls } = outcome;
            assert.ok(reply.status < 300, `${reply.status} ${reply.text}`);
            assert.equal(calls.length, 2);
            assert.ok(ms < TIMEOUT_MS + 500, `took ${ms} ms`);
            if (!step.isAfterwards) assert.ok(ms >= 50, "the second try waits a little");
          });
        }
      });
    });
  }
});

describe("circuit breaker", () => {
  const isOpen = (reply) => reply.status === 503 && reply.headers.get("retry-after") !== null;

  test("the circuit opens for five seconds after five consecutive failures", async () => {
    await withStep({}, async ({ upstream, worker }) => {
      const user = crypto.randomUUID();
      const knock = () => send(worker.url, "/api/sessions", { token: tokenAt(user) });
      upstream.behave(user, { chat_sessions: () => ({ status: 521 }) });
      await worker.setTime(START);
      for (let i = 0; i < 5; i++) assert.ok(!isOpen(await knock()), `call ${i}`);
      assert.equal(upstream.callsOf(user, "chat_sessions").length, 5);

      const refused = await knock();
      assertError(refused, 503, "upstream_unavailable");
      assert.equal(refused.headers.get("retry-after"), "5");
      assert.equal(upstream.callsOf(user, "chat_sessions").length, 5, "no call was made");
      const started = performance.now();
      assert.ok(isOpen(await ask(worker.url, user, question(), { token: tokenAt(user) })));
      assert.ok(performance.now() - started < 300, "at once");

      upstream.behave(user, {});
      await worker.setTime(START + 5 * SECOND - 1);
      const last = await knock();
      assert.deepEqual([isOpen(last), last.headers.get("retry-after")], [true, "1"]);
      await worker.setTime(START + 5 * SECOND);
      assert.equal((await knock()).status, 200);
      assert.equal((await knock()).status, 200);
    });
  });

  test("an open circuit allows one probe and opens again if the probe fails", async () => {
    await withStep({}, async ({ upstream, worker }) => {
      const user = crypto.randomUUID();
      const knock = () => send(worker.url, "/api/sessions", { token: tokenAt(user) });
      const asked = () => upstream.callsOf(user, "chat_sessions").length;
      upstream.behave(user, { chat_sessions: () => ({ status: 521, delay: 100 }) });
      await worker.setTime(START);
      for (let i = 0; i < 5; i++) await knock();
      await worker.setTime(START + 5 * SECOND);
      await Promise.all(Array.from({ length: 10 }, knock));
      assert.equal(asked(), 6);
      assert.ok(isOpen(await knock()));
      assert.equal(asked(), 6);
    });
  });

  test("a circuit that is open for storage does not affect questions and history", async () => {
    await withStep({ linkMode: "authenticated" }, async ({ upstream, worker }) => {
      const [user, other] = [crypto.randomUUID(), crypto.randomUUID()];
      const { id } = upstream.library.addDocument();
      upstream.behave(user, { "storage/object": () => ({ status: 521, body: {} }) });
      const download = () => send(worker.url, `/api/documents/${id}/download`, { token: tokenAt(user) });
      for (let i = 0; i < 3; i++) assertError(await download(), 503, "upstream_unavailable");
      for (const reply of await Promise.all(Array.from({ length: 10 }, download))) {
        assertError(reply, 503, "upstream_unavailable");
      }
      assert.ok(isOpen(await download()), "that of the files is open");
      assert.equal((await ask(worker.url, other, question(), { token: tokenAt(other) })).status, 200);
      assert.equal((await send(worker.url, "/api/sessions", { token: tokenAt(other) })).status, 200);
    });
  });

  test("the circuits for keys and database are independent", async () => {
    const knockWith = (worker, token) => send(worker.url, "/api/sessions", { token });
    const keyToken = () => key.token(crypto.randomUUID(), { claims: { iat: 0, exp: START / SECOND + 1e6 } });
    await withStep({}, async ({ upstream, worker }) => {
      const user = crypto.randomUUID();
      upstream.behave(user, { chat_sessions: () => ({ status: 521 }) });
      for (let i = 0; i < 5; i++) await knockWith(worker, tokenAt(user));
      assert.ok(isOpen(await knockWith(worker, tokenAt(user))));
      await knockWith(worker, keyToken());
      assert.equal(upstream.callsOf(NOBODY, "jwks").length, 1);
    });
    await withStep({}, async ({ upstream, worker }) => {
      upstream.behave(NOBODY, { jwks: () => ({ status: 521 }) });
      for (let i = 0; i < 8; i++) {
        await worker.setTime(START + i * 40 * SECOND);
        assertError(await knockWith(worker, keyToken()), 503, "upstream_unavailable");
      }
      const user = crypto.randomUUID();
      assert.equal((await ask(worker.url, user, question(), { token: tokenAt(user) })).status, 200);
    });
  });

  test("responses that are too large do not open the circuit", async () => {
    await withStep({}, async ({ upstream, worker }) => {
      const user = crypto.randomUUID();
      const knock = () => send(worker.url, "/api/sessions", { token: tokenAt(user) });
      upstream.behave(user, { chat_sessions: () => ({ huge: 6 * 2 ** 20 }) });
      const replies = [await knock(), ...(await Promise.all(Array.from({ length: 8 }, knock))), await knock()];
      for (const reply of replies) assertError(reply, 503, "upstream_unavailable");
      assert.ok(!replies.some(isOpen));
      assert.equal(upstream.callsOf(user, "chat_sessions").length, replies.length);
    });
  });

  for (const { patience, users, opens } of [
    { patience: 1500, users: 6, opens: true },
    { patience: 1500, users: 1, opens: false },
    { patience: 900, users: 6, opens: false },
  ]) {
    const of = users === 1 ? "of one user" : `of ${users} users`;
    test(`the circuit ${opens ? "opens" : "stays closed"} when calls ${of} time out after ${patience} ms`, async () => {
      const upstream = await startUpstream();
      const callers = Array.from({ length: users }, () => crypto.randomUUID());
      for (const user of callers) upstream.behave(user, { chat_sessions: () => ({ hang: true }) });
      const use = async ({ url }) => {
        const calls = Array.from({ length: 6 }, (_, n) => send(url, "/api/sessions", { user: callers[n % users] }));
        for (const reply of await Promise.all(calls)) assertError(reply, 504, "upstream_timeout");
        const next = await send(url, "/api/sessions", { user: crypto.randomUUID() });
        assert.deepEqual([next.status, isOpen(next)], opens ? [503, true] : [200, false]);
      };
      await withWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: String(patience) }, use).finally(upstream.close);
    });
  }

  for (const status of [429, 500]) {
    test(`status ${status} opens the circuit only if five users get it`, async () => {
      await withStep({}, async ({ upstream, worker }) => {
        const knock = (user) => send(worker.url, "/api/sessions", { token: tokenAt(user) });
        const failing = Array.from({ length: 5 }, () => crypto.randomUUID());
        for (const user of failing) upstream.behave(user, { chat_sessions: () => ({ status }) });
        for (let i = 0; i < 12; i++) assert.ok(!isOpen(await knock(failing[0])), `call ${i}`);
        assert.equal((await knock(crypto.randomUUID())).status, 200);
        for (const user of failing) assert.ok(!isOpen(await knock(user)));
        assert.ok(isOpen(await knock(crypto.randomUUID())));
      });
    });
  }

  test("a success in between or rejections by Supabase keep the circuit closed", async () => {
    await withStep({}, async ({ upstream, worker }) => {
      const user = crypto.randomUUID();
      const knock = () => send(worker.url, "/api/sessions", { token: tokenAt(user) });
      let turn = 0;
      upstream.behave(user, { chat_sessions: () => (turn++ % 5 === 4 ? { body: [] } : { status: 521 }) });
      for (let i = 0; i < 20; i++) assert.ok(!isOpen(await knock()));
      for (const status of [401, 403, 404]) {
        upstream.behave(user, { chat_sessions: () => ({ status }) });
        for (let i = 0; i < 6; i++) assert.ok(!isOpen(await knock()), String(status));
      }
    });
  });
});

describe("large responses", () => {
  /** A large page of history of which only the first half arrives. */
  const halfAPage = { body: Array.from({ length: 10 }, () => ({ content: "x".repeat(60_000) })), cut: "hang" };

  test("an isolate reads four large responses at a time; others wait, small ones do not", async () => {
    const upstream = await startUpstream();
    const readers = Array.from({ length: 12 }, () => crypto.randomUUID());
    const pageOf = (url, user) => {
      const session = upstream.history.addSession(user);
      return send(url, `/api/sessions/${session.id}/messages`, { user });
    };
    const use = async ({ url }) => {
      for (const user of readers) upstream.behave(user, { chat_messages: () => halfAPage });
      const waiting = readers.map((user) => pageOf(url, user));
      await eventually(() => upstream.calls.filter(({ resource }) => resource === "chat_messages").length === 12);
      const started = performance.now();
      assert.equal((await ask(url, crypto.randomUUID())).status, 200);
      assert.equal((await pageOf(url, crypto.randomUUID())).status, 200);
      assert.ok(performance.now() - started < 2000, "small answers do not wait");

      const statuses = (await Promise.all(waiting)).map(({ status }) => status);
      // Four requests had a permit and waited for Supabase; the others got none.
      assert.equal(statuses.filter((status) => status === 504).length, 4, statuses.join());
      assert.equal(statuses.filter((status) => status === 503).length, 8, statuses.join());

      // The permits are free again.
      const [user] = readers;
      upstream.behave(user, {});
      const session = upstream.history.addSession(user);
      for (let i = 0; i < 10; i++) upstream.history.addMessage(session, { content: "x".repeat(60_000) });
      const read = () => send(url, `/api/sessions/${session.id}/messages`, { user });
      const replies = await Promise.all(Array.from({ length: 12 }, read));
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    };
    await withWorker(upstream, { CHAT_UPSTREAM_TIMEOUT_MS: "6000" }, use).finally(upstream.close);
  });
});

describe("rejections by Supabase", () => {
  for (const [status, expected, code] of [
    [401, 401, "unauthorized"],
    [403, 403, "forbidden"],
    [400, 500, "internal"],
    [404, 500, "internal"],
    [406, 500, "internal"],
    [409, 500, "internal"],
  ]) {
    test(`status ${status} of Supabase becomes ${expected} without a retry`, async () => {
      await withStep({}, async ({ upstream, worker }) => {
        const user = crypto.randomUUID();
        const body = { message: "function public.match_chunks not found" };
        upstream.behave(user, { "rpc/match_chunks": () => ({ status, body }) });
        const reply = await ask(worker.url, user, question(), { token: tokenAt(user) });
        assertError(reply, expected, code);
        assert.ok(!reply.text.includes("match_chunks"));
        assert.equal(upstream.callsOf(user, "rpc/match_chunks").length, 1);
      });
    });
  }
});

describe("file that is cut off", () => {
  for (const [name, cut] of Object.entries({ reset: "reset", paused: "hang" })) {
    test(`a file that is cut off is also cut off for the client: ${name}`, async () => {
      const upstream = await startUpstream();
      upstream.settings.link_mode = "authenticated";
      const user = crypto.randomUUID();
      const { id } = upstream.library.addDocument();
      const bytes = Buffer.alloc(200_000, "x");
      upstream.behave(user, { "storage/object": () => ({ bytes, cut }) });
      const download = async ({ url }) => {
        const started = performance.now();
        await assert.rejects(send(url, `/api/documents/${id}/download`, { user }), TypeError);
        assert.ok(performance.now() - started < MAX_RESPONSE_MS);
        await eventually(() => upstream.callsOf(user, "storage/object")[0].closed);
      };
      await withWorker(upstream, {}, download, { direct: true }).finally(upstream.close);
    });
  }

  test("a large file is streamed and not buffered", async () => {
    await withStep({ linkMode: "authenticated" }, async ({ upstream, worker }) => {
      const user = crypto.randomUUID();
      const { id } = upstream.library.addDocument();
      upstream.behave(user, { "storage/object": () => ({ huge: HUGE_BYTES }) });
      const response = await fetch(`${worker.url}/api/documents/${id}/download`, {
        headers: { authorization: `Bearer ${tokenAt(user)}` },
      });
      const reader = bodyOf(response).getReader();
      await reader.read();
      await new Promise((resolve) => setTimeout(resolve, 300));
      const [call] = upstream.callsOf(user, "storage/object");
      assert.ok(call.sent < HUGE_BYTES / 2, "without a reader nothing more is fetched");
      await reader.cancel();
      await eventually(() => call.closed);
    });
  });
});

/** The outcomes in the order of the steps, which ran concurrently. */
function table() {
  const steps = Object.keys(STEPS);
  return outcomes.toSorted((a, b) => steps.indexOf(a.step) - steps.indexOf(b.step));
}

test("the table of outcomes contains every step", (t) => {
  const columns = ["step", "fault", "status", "code", "end", "persisted", "tries", "ms"];
  const lines = [columns, ...table().map((row) => columns.map((name) => String(row[name] ?? "")))];
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column].length)));
  for (const line of lines) t.diagnostic(line.map((cell, column) => cell.padEnd(widths[column])).join("  "));
  assert.deepEqual(new Set(outcomes.map(({ step }) => step)), new Set(Object.keys(STEPS)));
  mkdirSync(new URL(".", RESULT), { recursive: true });
  writeFileSync(RESULT, `${JSON.stringify(table(), null, 2)}\n`);
});

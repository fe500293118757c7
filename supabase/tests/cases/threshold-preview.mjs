import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { become, user } from "../support/roles.mjs";
import { newTurn, RECORD_TURN } from "../support/turn.mjs";

const SECRET = "the secret of the Worker in the preview tests";

/** What other thresholds would have done to the newest questions. */
export function thresholdPreview({ database }) {
  const ids = {};
  /** @type {import("../support/roles.mjs").Caller} */
  let admin;

  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;
  const call = (caller, sql, parameters, secret = SECRET) =>
    database.transaction(async (transaction) => {
      await become(transaction, caller);
      await transaction.query("select set_config('request.headers', $1, true)", [
        JSON.stringify({ "x-evidence-chat-worker": secret }),
      ]);
      return (await transaction.query(sql, parameters)).rows;
    });
  /**
   * Records a turn as the Worker does.
   * @param {[similarity: number | null, confidence: number][] | null} reaches
   * @param {{ refusal?: string | null, assistant?: string, secret?: string, answerId?: string }} [options]
   */
  const turn = (reaches, { refusal = null, assistant = "default", secret = SECRET, answerId = randomUUID() } = {}) =>
    call(
      user(ids.visitor),
      RECORD_TURN,
      [
        newTurn({
          session_id: ids.session[assistant],
          answer_id: answerId,
          refusal,
          assistant,
          reaches: reaches && reaches.map(([similarity, confidence]) => ({ similarity, confidence })),
        }),
      ],
      secret,
    );
  /** @type {(threshold?: number | null, confidence?: number | null, assistant?: string) => Promise<any>} */
  const preview = async (threshold = null, confidence = null, assistant = "default") => {
    const [row] = await call(admin, "select * from chat_preview_thresholds($1, $2, $3)", [
      assistant,
      threshold,
      confidence,
    ]);
    return row;
  };
  const answered = async (...thresholds) => (await preview(...thresholds)).answered;

  before(async () => {
    for (const name of ["visitor", "admin"])
      ids[name] = (
        await run(
          "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id",
          `${name}@preview.example`,
        )
      )[0].id;
    admin = user(ids.admin, { app_metadata: { evidence_chat: "administrator" } });
    ids.session = { default: randomUUID(), shop: randomUUID() };
    await run("insert into assistants (name) values ('shop')");
    ids.previousSecrets = await run("select hash, created_at from internal.worker_secrets");
    await run("select chat_set_worker_secret($1)", createHash("sha256").update(SECRET).digest("hex"));
  });
  afterEach(async () => {
    await database.exec(`
      delete from chat_sessions;
      delete from internal.chat_reaches;
      delete from internal.chat_daily;
      delete from internal.chat_daily_latency;
      delete from internal.usage;
      delete from internal.chat_deleted_sessions;
      update assistants set evidence_threshold = null, evidence_confidence = null;
      update chat_settings set keep_refusals = 'full'`);
  });
  after(async () => {
    await database.exec(`
      delete from assistants where name = 'shop';
      delete from auth.users where email like '%@preview.example';
      delete from internal.worker_secrets`);
    for (const { hash, created_at: createdAt } of ids.previousSecrets)
      await run("insert into internal.worker_secrets (hash, created_at) values ($1, $2)", hash, createdAt);
  });

  test("without questions, everything is 0 and there is no first day", async () => {
    assert.deepEqual(await preview(), {
      questions: 0,
      answered: 0,
      answered_now: 0,
      first_day: null,
      has_refused: true,
    });
  });

  test("a question is answered if it reaches both thresholds, inclusive", async () => {
    await turn([[0.35, 0.5]]);
    await turn([[0.9, 0.2]], { refusal: "weak_evidence" });
    await turn([[0.1, 0.9]], { refusal: "no_match" });
    await turn([], { refusal: "empty_kb" });
    assert.deepEqual(
      [await answered(), await answered(0.35, 0.5), await answered(0.36, 0.5), await answered(0.35, 0.51)],
      [1, 1, 0, 0],
    );
    assert.deepEqual(
      [await answered(0.35, 0), await answered(0, 0.5), await answered(0, 0), await answered(1, 1)],
      [2, 2, 3, 0],
    );
    assert.equal((await preview(0, 0)).questions, 4);
  });

  test("a follow-up question is answered alone or together with the question before it", async () => {
    await turn([
      [0.9, 0.1],
      [0.4, 0.8],
    ]);
    assert.deepEqual(
      [await answered(0.9, 0.1), await answered(0.4, 0.8), await answered(0.9, 0.8), await answered(0.41, 0.11)],
      [1, 1, 0, 0],
    );
  });

  test("compares with the saved thresholds of the assistant, and counts only its questions", async () => {
    await turn([[0.5, 0.6]]);
    await turn([[0.4, 0.9]], { assistant: "shop" });
    await run("update assistants set evidence_threshold = 0.45, evidence_confidence = 0 where name = 'shop'");
    const shop = await preview(0.3, 0.5, "shop");
    assert.deepEqual([shop.questions, shop.answered, shop.answered_now], [1, 1, 0]);
    assert.equal((await preview(0.3, 0.5)).answered_now, 1);
    await assert.rejects(preview(0, 0, "nobody"), { code: "PT404" });
  });

  test("only turns of the Worker count, each once", async () => {
    const answerId = randomUUID();
    await turn([[0.5, 0.6]], { answerId });
    await turn([[0.5, 0.6]], { answerId });
    await turn([[0.5, 0.6]], { secret: "not the secret" });
    await turn(null);
    assert.equal((await preview()).questions, 1);
  });

  test("counts the newest 500 and keeps no more, and other assistants lose none", async () => {
    await turn([[0.1, 0.1]], { assistant: "shop" });
    await run(
      `insert into internal.chat_reaches (assistant, is_refused, similarities, confidences)
         select 'default', false, array[case when n <= 3 then 0.9 else 0.5 end], '{0.9}' from generate_series(1, 502) n`,
    );
    assert.deepEqual([(await preview(0.8)).questions, await answered(0.8)], [500, 1]);
    await turn([[0.5, 0.9]]);
    assert.deepEqual([(await preview(0.8)).questions, await answered(0.8)], [500, 0]);
    const kept = await run(
      "select assistant, count(*)::integer as count from internal.chat_reaches group by 1 order by 1",
    );
    assert.deepEqual(kept, [
      { assistant: "default", count: 500 },
      { assistant: "shop", count: 1 },
    ]);
  });

  test("keeps nothing of refused questions if keep_refusals is off, and chat_retain applies it to earlier ones", async () => {
    await turn([[0.2, 0.2]], { refusal: "no_match" });
    await turn([[0.5, 0.6]]);
    await run("update chat_settings set keep_refusals = 'off'");
    await turn([[0.2, 0.2]], { refusal: "no_match" });
    const before = await preview(0, 0);
    assert.deepEqual([before.questions, before.has_refused], [2, false]);
    await run("select chat_retain()");
    assert.equal((await preview(0, 0)).questions, 1);
  });

  test("chat_retain deletes numbers that are older than 400 days", async () => {
    await turn([[0.5, 0.6]]);
    await run("update internal.chat_reaches set day = day - 401");
    await turn([[0.5, 0.6]]);
    await run("select chat_retain()");
    assert.equal((await preview()).questions, 1);
  });

  test("the numbers hold no text, no user and no conversation, and stay when the conversation is deleted", async () => {
    await turn([[0.5, 0.6]]);
    await run("delete from chat_sessions");
    assert.equal((await preview()).questions, 1);
    const columns = await run(`
      select attname as name, format_type(atttypid, atttypmod) as type
        from pg_attribute where attrelid = 'internal.chat_reaches'::regclass and attnum > 0 and not attisdropped order by 1`);
    assert.deepEqual(
      columns.map(({ name, type }) => `${name} ${type}`),
      [
        "assistant text",
        "confidences double precision[]",
        "day date",
        "id bigint",
        "is_refused boolean",
        "similarities double precision[]",
      ],
    );
  });

  test("thresholds out of range are rejected, and so is everybody who is no administrator", async () => {
    for (const [threshold, confidence] of [
      [-0.01, 0],
      [1.01, 0],
      [0, -1],
      [0, 2],
      [NaN, 0],
    ])
      await assert.rejects(preview(threshold, confidence), { code: "22023" }, `${threshold} ${confidence}`);
    await assert.rejects(call(user(ids.visitor), "select * from chat_preview_thresholds('default')", []), {
      code: "42501",
    });
  });
}

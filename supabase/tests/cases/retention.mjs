import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { QUERY } from "../support/knowledge-base.mjs";

const REFUSALS = 2_000;

/**
 * The nightly deletion, when there is much to delete.
 * @param {{ database: any, openSession?: () => Promise<any>, conversations: number }} project `openSession`: as pg_cron does for
 *   each run; PGlite has one session
 */
export function retention({ database, openSession, conversations }) {
  const users = [];

  const run = async (sql, ...parameters) => (await database.query(sql, parameters)).rows;
  const addUsers = (count, age) =>
    run(
      `insert into auth.users (id, email, is_anonymous, raw_user_meta_data, created_at)
         select gen_random_uuid(), gen_random_uuid() || '@nights.example', true, '{"created_by": "evidence-chat"}', now() - make_interval(days => $2)
           from generate_series(1, $1) as n
         returning id`,
      count,
      age,
    );
  const left = async () => {
    const [counts] = await run(`
      select (select count(*)::int from chat_sessions) as sessions, (select count(*)::int from chat_messages) as messages,
          (select count(*)::int from chat_refusals) as refusals, 
          (select count(*)::int from internal.usage where period_start < now() - interval '2 days') as usage,
          (select count(*)::int from internal.chat_deleted_sessions where deleted_at < now() - interval '1 day') as ids`);
    return counts;
  };
  const night = async (timeout) => {
    const session = openSession ? await openSession() : database;
    try {
      await session.exec(`set statement_timeout = '${timeout}'`);
      await session.exec("call internal.chat_retain_all()");
    } finally {
      await session.exec("reset statement_timeout");
      if (openSession) await session.close();
    }
  };
  const removeUsers = () =>
    database.exec(`
      delete from auth.users where email like '%@nights.example';
      delete from internal.chat_deleted_sessions;
      delete from internal.chat_retention;
      delete from internal.usage`);

  before(async () => {
    users.push(...(await addUsers(20, 0)).map(({ id }) => id));
    // A table that was small when Postgres last looked at it.
    await database.exec("insert into internal.chat_deleted_sessions (id) values (gen_random_uuid())");
    // Other tests may have run it.
    await database.exec("delete from internal.chat_retention");
    for (const table of ["internal.chat_deleted_sessions", "chat_sessions", "chat_messages", "chat_refusals"]) {
      await database.exec(`vacuum analyze ${table}`);
    }
  });
  after(async () => {
    await removeUsers();
    await database.exec("update chat_settings set retention_days = null");
  });

  test(`nights that are too short for ${conversations} expired conversations delete what they can, until nothing is left`, async () => {
    await database.exec("alter table chat_messages disable trigger user");
    await run(
      `with session as (
         insert into chat_sessions (user_id, updated_at)
           select ($1::uuid[])[1 + n % 20], now() - interval '200 days' + n * interval '1 second' from generate_series(1, $2) as n
           returning id
       )
       insert into chat_messages (session_id, role, content)
         select id, role, 'Do you sell bicycles?' from session cross join unnest('{user,assistant}'::text[]) as role`,
      users,
      conversations,
    );
    await database.exec("alter table chat_messages enable trigger user");
    await run(
      `insert into chat_refusals (user_id, question, embedding, reason)
         select $1, 'Who?', $2, 'no_match' from generate_series(1, $3)`,
      users[0],
      QUERY,
      REFUSALS,
    );
    await run("update chat_refusals set created_at = now() - interval '200 days' where user_id = $1", users[0]);
    await run(
      "insert into internal.usage select gen_random_uuid(), 'storage', now() - interval '3 days', 1 from generate_series(1, 2500)",
    );
    const [{ id: kept }] = await run("insert into chat_sessions (user_id) values ($1) returning id", users[0]);
    await database.exec("update chat_settings set retention_days = 90");

    let before = await left();
    assert.equal(before.sessions, conversations + 1);
    const start = Date.now();
    for (let nights = 1; before.sessions > 1 || before.refusals > 0; nights++) {
      assert.equal(
        (await run("select ran_at from internal.chat_retention"))[0]?.ran_at ?? null,
        null,
        "not yet finished",
      );
      await night("4s");
      const now = await left();
      assert.ok(now.sessions < before.sessions || now.refusals < before.refusals, `night ${nights} deleted nothing`);
      before = now;
    }
    // Together they took less than one night of a hosted project has.
    const seconds = (Date.now() - start) / 1000;
    assert.ok(seconds < 120, `${seconds} s`);
    assert.deepEqual(await left(), { sessions: 1, messages: 0, refusals: 0, usage: 0, ids: 0 });
    assert.deepEqual(await run("select id from chat_sessions"), [{ id: kept }]);
    assert.ok((await run("select ran_at from internal.chat_retention"))[0].ran_at);

    await run("update internal.chat_deleted_sessions set deleted_at = now() - interval '25 hours'");
    await night("2min");
    assert.equal((await left()).ids, 0);
  });

  test("inactive users with more conversations than one piece go with all of them, and users who cannot be deleted keep nobody else", async () => {
    const stuck = await addUsers(250, 40);
    await database.exec("create table public.carts (id uuid references auth.users)");
    try {
      await run(
        "insert into public.carts select id from unnest($1::uuid[]) as id order by id limit 150",
        stuck.map(({ id }) => id),
      );
      const [{ id: busy }] = await addUsers(1, 40);
      await run(
        `insert into chat_sessions (user_id, updated_at) select $1, now() - interval '40 days' from generate_series(1, 2500)`,
        busy,
      );
      const reports = [];
      do {
        reports.push((await run("select chat_retain() as done"))[0].done);
        assert.ok(reports.length < 20);
      } while (reports.at(-1).more);
      const sum = (column) => reports.reduce((total, report) => total + report[column], 0);
      assert.deepEqual([sum("anonymous_users"), sum("undeletable_users"), sum("sessions")], [101, 150, 2500]);
      for (const report of reports) assert.ok(report.sessions <= 2000 && report.anonymous_users <= 100);
      const [{ count }] = await run("select count(*)::int from auth.users where id = any ($1)", [
        busy,
        ...stuck.map(({ id }) => id),
      ]);
      assert.equal(count, 150);
    } finally {
      await database.exec("drop table public.carts");
    }
  });
}

// The insights of a year of conversations: the functions in the database, and the page in Chromium.
import { startNativePostgres } from "../../supabase/tests/support/native-postgres.mjs";
import { openNativeSupabase } from "../../supabase/tests/support/native-supabase.mjs";
import { openBrowser } from "../../tests/lib/browser.mjs";
import { startInsightsSite } from "../../tests/lib/insights-site.mjs";
import { timeFunctions, timeTurns } from "./functions.mjs";
import { timePage } from "./page.mjs";
import { describeYear, generateYear } from "./year.mjs";

const DATABASE = "insights";
const SETTINGS = ["shared_buffers=512MB", "maintenance_work_mem=512MB"];
const SCOPE = {
  windows: [7, 30, 90],
  /** Null for all. */
  assistants: [null, "shop"],
};

/**
 * Starts a native Postgres with a local Supabase and the insights page in front of it, and measures.
 * @param {object} options
 * @param {number} options.messages questions and answers of the year
 * @param {number} options.runs calls of each function
 * @param {number} options.views how often the page shows each period
 * @param {number} options.turns turns to record, for the cost of counting
 * @param {(step: string) => void} [options.onStep]
 */
export async function measureInsights({ messages, runs, views, turns, onStep = () => {} }) {
  /** Closes what was opened, the newest last. */
  const closers = [];
  try {
    const postgres = await startNativePostgres(SETTINGS);
    closers.push(() => postgres.stop());
    const site = await startInsightsSite((options) => openNativeSupabase(postgres, DATABASE, options));
    closers.push(() => site.close());
    const session = await postgres.connect("postgres", DATABASE);
    closers.push(() => session.close());

    onStep(`generating ${messages} messages`);
    const seconds = await generateYear(session, messages);
    const described = await describeYear(session);
    const { rows } = await session.query("select version()");
    onStep(`the functions, after ${seconds} s`);
    const administrator = site.administrator.id;
    const functions = await timeFunctions(session, { ...SCOPE, administrator, runs });
    const recorded = await timeTurns(session, { administrator, workerSecret: site.workerSecret, turns });
    onStep("the page");
    const browser = await openBrowser();
    closers.push(() => browser.close());
    const page = await timePage(browser.page, site, { ...SCOPE, runs: views });
    if (browser.page.errors.length > 0) throw new Error(browser.page.errors.join("\n"));
    return { database: rows[0].version, ...described, load_seconds: seconds, views: functions, turns: recorded, page };
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

// Wraps the built Worker so that tests can set its clock and inspect its Durable Objects. The Worker gets the time from
// `Date`, so replacing that is enough; the WebAssembly is unchanged.
import * as built from "./index.js";

const RealDate = Date;
let stoppedAt;
let offset = 0;

class TestDate extends RealDate {
  /** @param {ConstructorParameters<DateConstructor> | []} values */
  constructor(...values) {
    super(.../** @type {ConstructorParameters<DateConstructor>} */ (values.length ? values : [TestDate.now()]));
  }
  /** @override */
  static now() {
    return stoppedAt ?? RealDate.now() + offset;
  }
}
// A class cannot be called without `new`, as `Date` can; the Worker does not.
globalThis.Date = /** @type {DateConstructor} */ (/** @type {unknown} */ (TestDate));

export class UserGate extends built.UserGate {
  #state;
  #exec;
  #requests = 0;
  #statements = 0;

  constructor(state, env) {
    super(state, env);
    this.#state = state;
    // Counts the statements.
    const { sql } = state.storage;
    this.#exec = sql.exec.bind(sql);
    sql.exec = (...query) => {
      this.#statements += 1;
      return this.#exec(...query);
    };
  }

  /** @override */
  async fetch(request) {
    const command = request.headers.get("x-test-gate");
    if (!command) {
      this.#requests += 1;
      return super.fetch(request);
    }
    if (command === "alarm") {
      // As the runtime does before it runs the alarm.
      await this.#state.storage.deleteAlarm();
      await super.alarm();
    }
    if (command === "sql") this.#exec(await request.text());
    return Response.json(await this.#contents());
  }

  async #contents() {
    const tables = [...this.#exec("SELECT name FROM sqlite_master WHERE type = 'table'")]
      .map((row) => row.name)
      .filter((name) => !/^(_cf_|sqlite_)/.test(name));
    const rows = tables.map((name) => [name, [...this.#exec(`SELECT * FROM "${name}"`)]]);
    const alarm = await this.#state.storage.getAlarm();
    return { alarm, requests: this.#requests, statements: this.#statements, rows: Object.fromEntries(rows) };
  }
}

export default class extends built.default {
  /** @override */
  async fetch(request) {
    const [stopAt, runFrom] = ["x-test-stop-clock", "x-test-run-clock"].map((name) => request.headers.get(name));
    if (stopAt ?? runFrom) {
      stoppedAt = stopAt ? Number(stopAt) : undefined;
      offset = Number(runFrom) - RealDate.now();
      return new Response();
    }
    const user = request.headers.get("x-test-gate-of");
    if (user) return this.env.USER_GATE.getByName(user).fetch(new Request("http://user-gate/", request));
    return super.fetch(request);
  }
}

// Stands in front of the built Worker and lets tests set its clock and look into its Durable Objects. The Worker asks
// `Date` for the time, so it is enough to replace that; the WebAssembly is untouched.
import * as built from "./index.js";

const RealDate = Date;
let stoppedAt;
let offset = 0;

globalThis.Date = class extends RealDate {
  constructor(...values) {
    super(...(values.length ? values : [Date.now()]));
  }
  static now() {
    return stoppedAt ?? RealDate.now() + offset;
  }
};

export class UserGate extends built.UserGate {
  #state;

  constructor(state, env) {
    super(state, env);
    this.#state = state;
  }

  async fetch(request) {
    const command = request.headers.get("x-test-gate");
    if (!command) return super.fetch(request);
    if (command === "alarm") {
      // As the runtime does before it rings.
      await this.#state.storage.deleteAlarm();
      await super.alarm();
    }
    if (command === "sql") this.#state.storage.sql.exec(await request.text());
    return Response.json(await this.#contents());
  }

  async #contents() {
    const { sql } = this.#state.storage;
    const tables = [...sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'")]
      .map((row) => row.name)
      .filter((name) => !/^(_cf_|sqlite_)/.test(name));
    const rows = tables.map((name) => [name, [...sql.exec(`SELECT * FROM "${name}"`)]]);
    return { alarm: await this.#state.storage.getAlarm(), rows: Object.fromEntries(rows) };
  }
}

export default class extends built.default {
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

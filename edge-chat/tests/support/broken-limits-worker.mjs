// The built Worker with rate limits that always fail.
import * as built from "./index.js";

export const { UserGate } = built;

/** The name is that of the real bindings. */
class Ratelimit {
  async limit() {
    throw new Error("out of order");
  }
}

export default class extends built.default {
  constructor(context, env) {
    const broken = ["IP_LIMIT", "USER_LIMIT", "QUESTION_LIMIT", "ANONYMOUS_LIMIT", "SEARCH_LIMIT", "EXPORT_LIMIT"].map(
      (name) => [name, new Ratelimit()],
    );
    super(context, { ...env, ...Object.fromEntries(broken) });
  }
}

// The built Worker with a rate limit that always fails.
import * as built from "./index.js";

export const { UserGate } = built;

/** The name is that of the real binding's class. */
class Ratelimit {
  async limit() {
    throw new Error("out of order");
  }
}

export default class extends built.default {
  constructor(context, env) {
    super(context, { ...env, REQUEST_LIMIT: new Ratelimit() });
  }
}

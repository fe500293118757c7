// The built Worker with a data set of Workers Analytics Engine. A request with the header `x-test-analytics` returns its data
// points so far.
import * as built from "./index.js";

const points = [];
const ANALYTICS = { writeDataPoint: (point) => points.push(point) };

export const { UserGate } = built;

export default class extends built.default {
  constructor(context, env) {
    super(context, { ...env, ANALYTICS });
  }

  /** @override */
  async fetch(request) {
    return request.headers.has("x-test-analytics") ? Response.json(points) : super.fetch(request);
  }
}

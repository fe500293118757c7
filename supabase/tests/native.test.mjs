// The same tests on a native Postgres 18, where an owner who is not a superuser runs the migrations, and the tests that need
// several sessions. Those with thousands of vectors run only here, because PGlite takes twenty times as long to index them; they
// run on PGlite if there is no native Postgres.
import { after, describe, test } from "node:test";
import { accessMatrix } from "./cases/access-matrix.mjs";
import { administration } from "./cases/administration.mjs";
import { anonymous } from "./cases/anonymous.mjs";
import { assistants } from "./cases/assistants.mjs";
import { audiences } from "./cases/audiences.mjs";
import { administrators } from "./cases/administrators.mjs";
import { chains } from "./cases/chains.mjs";
import { changes } from "./cases/changes.mjs";
import { concurrency } from "./cases/concurrency.mjs";
import { insights } from "./cases/insights.mjs";
import { retention } from "./cases/retention.mjs";
import { manyPassages } from "./cases/many-passages.mjs";
import { staleChunks } from "./cases/stale-chunks.mjs";
import { syncs } from "./cases/syncs.mjs";
import { vectorIndex } from "./cases/vector-index.mjs";
import { writeChunks } from "./cases/write-chunks.mjs";
import { UnavailableError } from "./support/native-postgres.mjs";
import { startNativeProject, startSupabase } from "./support/start.mjs";

const native = await startNativeProject().catch((error) => {
  if (error instanceof UnavailableError) return error;
  throw error;
});

if (native instanceof UnavailableError) {
  test("native Postgres", { skip: `platform: ${native.message}` }, () => {});
  const project = await startSupabase();
  after(() => project.close());
  withManyVectors(project);
} else {
  after(() => native.close());

  describe("access", () => accessMatrix(native));
  describe("audiences", () => audiences(native));
  describe("assistants", () => assistants(native));
  describe("anonymous visitors", () => anonymous(native));
  describe("kb_write_chunks", () => writeChunks(native));
  describe("sync leases", () => syncs(native));
  describe("stale chunks", () => staleChunks(native));
  describe("chains", () => chains(native));
  describe("administration", () => administration(native));
  describe("changes", () => changes(native));
  describe("administrators", () => administrators(native));
  describe("insights", () => insights(native));
  withManyVectors(native);
  describe("retention", () =>
    retention({ ...native, openSession: () => native.project.connect(), conversations: 100_000 }));
  describe("concurrent sessions", () => concurrency(native));
}

function withManyVectors(project) {
  describe("many passages", () => manyPassages(project));
  describe("vector index", () => vectorIndex(project));
}

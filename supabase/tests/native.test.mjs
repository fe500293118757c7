// The same tests on a native Postgres 18, where an owner who is not a superuser runs the migrations, and the tests that need
// several sessions.
import { writeChunks } from "./cases/write-chunks.mjs";
import { syncs } from "./cases/syncs.mjs";
import { concurrency } from "./cases/concurrency.mjs";
import { staleChunks } from "./cases/stale-chunks.mjs";
import { administration } from "./cases/administration.mjs";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { accessMatrix } from "./cases/access-matrix.mjs";
import { audiences } from "./cases/audiences.mjs";
import { applyPendingMigrations } from "../local/src/migrations.mjs";
import { startNativePostgres, Unavailable } from "./support/native-postgres.mjs";

const MIGRATIONS = fileURLToPath(new URL("../migrations/", import.meta.url));

const server = await startNativePostgres().catch((error) => {
  if (error instanceof Unavailable) return error;
  throw error;
});

if (server instanceof Unavailable) {
  test("native Postgres", { skip: `platform: ${server.message}` }, () => {});
} else {
  after(() => server.stop());
  const project = await server.createProject("tests");
  const database = await project.connect();
  after(() => database.close());
  await applyPendingMigrations(database, MIGRATIONS);

  describe("access", () => accessMatrix({ database }));
  describe("audiences", () => audiences({ database }));
  describe("kb_write_chunks", () => writeChunks({ database }));
  describe("leases of syncs", () => syncs({ database }));
  describe("stale chunks", () => staleChunks({ database }));
  describe("what an administrator sees", () => administration({ database }));
  describe("several sessions at once", () => concurrency({ project }));
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** An empty folder that `remove` deletes with everything in it. */
export async function createTemporaryFolder() {
  const folder = await mkdtemp(path.join(tmpdir(), "evidence-chat-supabase-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

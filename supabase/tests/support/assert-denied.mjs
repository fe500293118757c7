import assert from "node:assert/strict";

/** The role lacks the privilege on the table: no policy was asked. 401 for anon, 403 for users. */
export function assertDenied({ status, body }, expectedStatus, table) {
  assert.deepEqual(
    { status, code: body?.code, message: body?.message },
    { status: expectedStatus, code: "42501", message: `permission denied for table ${table}` },
  );
}

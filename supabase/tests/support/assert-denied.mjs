import assert from "node:assert/strict";

/** Asserts that the role lacks the privilege on the table, whatever the policies say. The status is 401 for anon, 403 for users. */
export function assertDenied({ status, body }, expectedStatus, table) {
  assert.deepEqual(
    { status, code: body?.code, message: body?.message },
    { status: expectedStatus, code: "42501", message: `permission denied for table ${table}` },
  );
}

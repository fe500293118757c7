/** An error whose message tells the user what to do; it is shown without a stack trace. */
export class UserError extends Error {
  /** @override */
  name = "UserError";
}

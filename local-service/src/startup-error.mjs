/** A reason why a service cannot start that its user can act on; shown without a stack trace. */
export class StartupError extends Error {
  name = "StartupError";
}

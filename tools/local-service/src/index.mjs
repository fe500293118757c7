/**
 * The protocol between a local server and the process that starts it (`cargo xtask demo`, a test, a terminal):
 *
 * - `PORT` in the environment is the port on 127.0.0.1; 0 picks a free one.
 * - The line `ready URL` on stdout says that the server answers at that URL.
 * - The server exits with 0 on SIGINT, on SIGTERM, and when stdin is a pipe or socket whose other end is closed, so that it
 *   does not outlive the process that started it. A terminal or /dev/null on stdin does not stop it.
 * - A startup error that the user can fix is one sentence on stderr; the exit code is 1.
 */
export { HOST, listen } from "./listen.mjs";
export { runService } from "./run-service.mjs";
export { StartupError } from "./startup-error.mjs";

/**
 * The protocol between the servers that run on this computer and whoever starts them (`cargo xtask demo`, a test, a
 * person in a terminal):
 *
 * - `PORT` in the environment is the port on 127.0.0.1; 0 picks a free one.
 * - A line `ready URL` on stdout says that the server answers at that URL.
 * - The server ends with code 0 on SIGINT, on SIGTERM, and when stdin is a pipe or socket whose other end is gone: a
 *   server does not outlive the process that started it. A terminal or /dev/null says nothing about a parent.
 * - A reason not to start that a person can act on is one sentence on stderr, and code 1.
 */
export { HOST, listen } from "./listen.mjs";
export { runService } from "./run-service.mjs";
export { StartupError } from "./startup-error.mjs";

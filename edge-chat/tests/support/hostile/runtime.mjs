// Invalid HTTP. The server in front of the Worker rejects it with its own status (400 and 501, also 500) and text, because
// there is no request yet that the Worker could answer.
import { chatBody } from "./case.mjs";

const POST = { method: "POST", target: "/api/chat" };
const json = ["Content-Type", "application/json"];
const body = () => Buffer.from(chatBody());

export const RUNTIME_CASES = [
  { name: "an unknown method", method: "FROBNICATE", target: "/api/chat" },
  { name: "a method in lower case", method: "post", target: "/api/chat" },
  { name: "a method with a NUL", method: "PO\0ST", target: "/api/chat" },
  { name: "a tunnel", method: "CONNECT", target: "evil.test:443" },
  { name: "a path with a space", target: "/api/ chat" },
  { name: "a header without a colon", target: "/api/health", headers: [["X\r\nnonsense\r\nY", "1"]] },
  { name: "a header name with a space", target: "/api/health", headers: [["X Y", "1"]] },
  { name: "a header value with a NUL", target: "/api/health", headers: [["X", "a\0b"]] },
  { name: "a header of 2 MB", target: "/api/health", headers: [["X", "x".repeat(2_000_000)]] },
  { name: "a Content-Length that is no number", ...POST, headers: [json, ["Content-Length", "ten"]], pieces: [body()] },
  { name: "a Content-Length below zero", ...POST, headers: [json, ["Content-Length", "-1"]], pieces: [body()] },
  {
    name: "two Content-Lengths",
    ...POST,
    headers: [json, ["Content-Length", "2"], ["Content-Length", "3"]],
    pieces: [Buffer.from("{}")],
  },
  {
    name: "an unknown Transfer-Encoding",
    ...POST,
    headers: [json, ["Transfer-Encoding", "x-custom"]],
    pieces: [body()],
  },
];

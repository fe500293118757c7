// Requests with a wrong content type, size, method or header.
import { CHAT, SEARCH, SESSION, chat, chatBody, chunk, get, rename } from "./case.mjs";

/** @import { TextRoute } from "./case.mjs" */

const UNSUPPORTED = [415, "unsupported_media_type"];
const TOO_LARGE = [413, "payload_too_large"];

const TYPES = [
  "text/plain",
  "text/json",
  "text/html",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "application/json5",
  "application/jsonl",
  "application/x-ndjson",
  "application/ld+json",
  "application/javascript",
  "application/octet-stream",
  "application",
  "application/",
  "/json",
  "application/json/",
  "application/json text/plain",
  "application/json, text/plain",
  "application\\json",
  "applicatiоn/json",
  '"application/json"',
  "application/json; charset=utf-16",
  "application/json; charset=iso-8859-1",
  'application/json; q=1; charset="UTF-16LE"',
  "; charset=utf-8",
  "*/*",
];

const LARGE = chatBody({ x: `"${"x".repeat(70_000)}"` });
const json = [["Content-Type", "application/json"]];

/** What is hostile in the same way for both routes. */
const casesOf = (/** @type {TextRoute} */ { post, bodyOf, text }) => [
  ...TYPES.map((type) => post(`Content-Type: ${type}`, bodyOf(), UNSUPPORTED, [["Content-Type", type]])),
  post("no Content-Type", bodyOf(), UNSUPPORTED, []),
  post("two Content-Types", bodyOf(), UNSUPPORTED, [...json, ["Content-Type", "text/plain"]]),
  post("a body over the limit", bodyOf({ x: `"${"x".repeat(70_000)}"` }), TOO_LARGE),
  post("a text of 256 KiB", bodyOf({ [text]: `"${"x".repeat(256 * 1024)}"` }), TOO_LARGE),
  post("a body of one byte over the limit", bodyOf().padEnd(64 * 1024 + 1), TOO_LARGE),
];

const OVERSIZE = [
  chat("a megabyte of white space", " ".repeat(2 ** 20), TOO_LARGE),
  chat("a megabyte of open arrays", "[".repeat(2 ** 20), TOO_LARGE),
  rename("a title over the limit", `{"title":"${"x".repeat(70_000)}"}`, TOO_LARGE),
  {
    ...chat("a body that is announced as larger than it is", chatBody(), TOO_LARGE),
    headers: [...json, ["Content-Length", "10000000000"]],
  },
  {
    ...chat("a body over the limit in one chunk", "", TOO_LARGE),
    headers: [...json, ["Transfer-Encoding", "chunked"]],
    pieces: [chunk(LARGE), chunk("")],
  },
  {
    ...chat("a body over the limit in many chunks", "", TOO_LARGE),
    headers: [...json, ["Transfer-Encoding", "chunked"]],
    pieces: [...Array(1100).fill(chunk(" ".repeat(64))), chunk("")],
  },
  {
    ...chat("a body over the limit that never ends", "", TOO_LARGE),
    headers: [...json, ["Transfer-Encoding", "chunked"]],
    pieces: Array(70).fill(chunk("[".repeat(1024))),
  },
  {
    ...chat("a body in chunks that is no JSON", ""),
    headers: [...json, ["Transfer-Encoding", "chunked"]],
    pieces: [chunk("{"), chunk('"a'), chunk("")],
  },
  {
    ...chat("a chunk whose size is no number", ""),
    headers: [...json, ["Transfer-Encoding", "chunked"]],
    pieces: [Buffer.from("zz\r\n{}\r\n0\r\n\r\n")],
  },
  {
    ...chat("a chunk longer than it says", ""),
    headers: [...json, ["Transfer-Encoding", "chunked"]],
    pieces: [Buffer.from("1\r\n{}{}{}\r\n0\r\n\r\n")],
  },
  {
    ...chat("a body with a length and in chunks", ""),
    headers: [...json, ["Content-Length", "2"], ["Transfer-Encoding", "chunked"]],
    pieces: [chunk("{}"), chunk("")],
  },
  {
    ...chat("a body shorter than it is, by its announcement", chatBody()),
    headers: [...json, ["Content-Length", "300"]],
  },
];

const NOT_ALLOWED = [405, "invalid_request"];
const DOWNLOAD = "/api/documents/d0000000-0000-4000-8000-000000000001/download";

/** Each path with methods it does not allow. */
const METHODS = {
  "/api/chat": ["GET", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "SEARCH"],
  "/api/search": ["GET", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "SEARCH"],
  "/api/config": ["POST", "PUT", "DELETE", "PATCH", "PURGE"],
  "/api/health": ["POST", "PUT", "DELETE", "LOCK"],
  "/api/ready": ["POST", "PUT", "DELETE"],
  "/api/sessions": ["POST", "PUT", "DELETE", "PATCH", "PROPFIND", "MKCOL"],
  [SESSION]: ["POST", "PUT", "COPY", "MOVE", "PROPFIND", "UNLOCK"],
  [`${SESSION}/messages`]: ["POST", "PUT", "DELETE", "PATCH", "REPORT"],
  [DOWNLOAD]: ["POST", "PUT", "DELETE", "PATCH", "COPY"],
};

const OVERRIDES = ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"];
const PATH_OVERRIDES = ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix"];

export const TRANSPORT_CASES = [
  ...casesOf(CHAT),
  ...casesOf(SEARCH),
  rename("a title as text", "a", UNSUPPORTED, [["Content-Type", "text/plain"]]),
  rename("a title without a type", '{"title":"a"}', UNSUPPORTED, []),
  ...OVERSIZE,
  ...Object.entries(METHODS).flatMap(([target, methods]) =>
    methods.map((method) => get(`${method} ${target}`, target, NOT_ALLOWED, method)),
  ),
  ...OVERRIDES.map((name) => ({
    ...get(`${name} makes no POST of a GET`, "/api/chat", NOT_ALLOWED),
    headers: [[name, "POST"]],
  })),
  ...OVERRIDES.map((name) => ({
    ...get(`${name} makes no DELETE of a GET`, SESSION, [404, "not_found"]),
    headers: [[name, "DELETE"]],
  })),
  ...PATH_OVERRIDES.map((name) => ({
    ...get(`${name} leads nowhere else`, "/nowhere", [404, "not_found"]),
    headers: [[name, "/api/sessions"]],
  })),
  {
    ...get("a foreign page asks before it posts", "/api/chat", [403, "forbidden"], "OPTIONS"),
    headers: [
      ["Origin", "https://evil.test"],
      ["Access-Control-Request-Method", "POST"],
    ],
  },
  {
    ...get("a page without an origin asks", "/api/chat", [403, "forbidden"], "OPTIONS"),
    headers: [["Origin", "null"]],
  },
  {
    ...get("a preflight with two origins", "/api/chat", [403, "forbidden"], "OPTIONS"),
    headers: [["Origin", "https://page.test, https://evil.test"]],
  },
];

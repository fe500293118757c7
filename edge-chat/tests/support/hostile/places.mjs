// Paths, ids and queries that try to be something else.
import { SESSION, get } from "./case.mjs";
import { LOOK_ALIKES } from "./fields.mjs";

const NOT_FOUND = [404, "not_found"];
const INVALID = [400, "invalid_request"];

const PATHS = [
  "/",
  "/api",
  "/api/",
  "//",
  "//api/chat",
  "/api//chat",
  "/api/chat/",
  "/api/chat//",
  "/api/chat;x",
  "/api/chat;jsessionid=1",
  "/api/chat.json",
  "/api/chat%00",
  "/api/chat%20",
  "/api/chat%0a",
  "/api/chat%0d%0aX-Evil:%201",
  "/api%2fchat",
  "/api%2Fchat",
  "/api%5cchat",
  "/api/%63hat",
  "/api/cha%74",
  "/%61pi/chat",
  "/API/CHAT",
  "/Api/Chat",
  "/api/CHAT",
  "/api/chаt",
  "/api/chat%C0%AE",
  "/api/chat%",
  "/api/chat%zz",
  "/api/chat\\",
  "/api/./chatx",
  "/api/chat/..;/sessions",
  "/api/chat/%2e%2e%2fsessions",
  "/api/chat/..%2fsessions",
  "/api/chats",
  "/api/session",
  "/api/sessions/",
  "/api/sessions//",
  "/api/sessions/*",
  "/api/sessions/all",
  "/api/sessions/%00",
  "/api/documents",
  "/api/documents/",
  "/api/documents/download",
  "/api/config/",
  "/api/config.json",
  "/api/health/",
  "/api/ready/",
  "/api/readyz",
  "/rest/v1/chat_sessions",
  "/auth/v1/.well-known/jwks.json",
  "/.env",
  "/.git/config",
  "/wp-login.php",
  "/etc/passwd",
  "/..%2f..%2fetc%2fpasswd",
  `/${"a".repeat(8000)}`,
  `/api/${"../".repeat(500)}nowhere`,
  `/api/sessions/${"%41".repeat(2000)}`,
].map((target) => get(`path ${target.slice(0, 60)}`, target, NOT_FOUND));

/** Invalid ids for a path, percent-encoded where necessary. */
const IDS = {
  ...LOOK_ALIKES,
  "an operator of PostgREST": "eq.5e551011-0000-4000-8000-000000000001",
  "a condition after it": "5e551011-0000-4000-8000-000000000001&user_id=neq.x",
  "a condition around it": "5e551011-0000-4000-8000-000000000001),or=(id.neq.x",
  "SQL that drops": "5e551011-0000-4000-8000-000000000001'; drop table chat_sessions;--",
  "a star": "*",
  "a path upwards": "../../auth/v1/admin",
  NUL: "5e551011-0000-4000-8000-000000000001\0",
  "an escape in an escape": "5e551011%2d0000-4000-8000-000000000001",
  nothing: "",
};

const withId = Object.entries(IDS).flatMap(([name, id]) => {
  const segment = encodeURIComponent(id);
  return [
    get(`a session id has ${name}`, `/api/sessions/${segment}`, NOT_FOUND),
    get(`a session to delete has ${name}`, `/api/sessions/${segment}`, NOT_FOUND, "DELETE"),
    get(`a session to read has ${name}`, `/api/sessions/${segment}/messages`, NOT_FOUND),
    get(`a document id has ${name}`, `/api/documents/${segment}/download`, NOT_FOUND),
  ];
});

const BELOW = [
  `${SESSION}/`,
  `${SESSION}/message`,
  `${SESSION}/messages/`,
  `${SESSION}/messages/1`,
  `${SESSION}//messages`,
  `${SESSION}/Messages`,
  `${SESSION}%2fmessages`,
  `${SESSION};x/messages`,
  `${SESSION}/messages;x`,
  "/api/documents/d0000000-0000-4000-8000-000000000001",
  "/api/documents/d0000000-0000-4000-8000-000000000001/",
  "/api/documents/d0000000-0000-4000-8000-000000000001/download/",
  "/api/documents/d0000000-0000-4000-8000-000000000001/Download",
  "/api/documents/d0000000-0000-4000-8000-000000000001/download%2f..",
].map((target) => get(`path ${target}`, target, NOT_FOUND));

const LIMITS = {
  zero: "0",
  "below zero": "-1",
  "two hundred and one": "201",
  "a fraction": "1.5",
  nothing: "",
  "a word": "all",
  "an exponent": "1e1",
  hexadecimal: "0x10",
  "a plus": "%2B5",
  "a space": "%205",
  "digits of another script": "%EF%BC%95",
  "beyond 32 bits": "4294967297",
  "beyond 64 bits": "18446744073709551617",
  "beyond doubles": "9".repeat(400),
  NaN: "NaN",
  "a list": "5,6",
  NUL: "5%00",
  "an operator": "gt.0",
  "half an escape": "5%",
  "bytes that are not text": "%ff",
};

const base64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const TIME = "2026-01-01T00:00:00.000001+00:00";
const ID = "5e551011-0000-4000-8000-000000000001";

const CURSORS = {
  nothing: "",
  "a word": "next",
  "a number": "1",
  "a time": encodeURIComponent(TIME),
  "an id": ID,
  "a space": "%20",
  NUL: "%00",
  "bytes that are not text": "%ff%fe",
  "not base64": "!!!!",
  "padding alone": "====",
  "base64 of nothing useful": base64("hello"),
  "base64 of JSON": base64({ updated_at: TIME, id: ID }),
  "base64 of a list": base64([TIME, ID]),
  "base64 of null": base64("null"),
  "base64 of a time without an id": base64(TIME),
  "base64 of an id without a time": base64(`,${ID}`),
  "base64 of a condition": base64(`${TIME}),or=(user_id.neq.x`),
  "base64 of two conditions": base64(`${TIME},${ID}),or=(id.neq.${ID}`),
  "base64 of an operator": base64(`eq.${TIME},eq.${ID}`),
  "base64 of SQL": base64(`${TIME}' or '1'='1,${ID}`),
  "base64 of infinity": base64(`infinity,${ID}`),
  "base64 of a year beyond Postgres": base64(`999999-01-01T00:00:00Z,${ID}`),
  "base64 of NUL": base64("\0\0\0\0"),
  "a condition": "or=(user_id.neq.x)",
  SQL: "%27%20or%20%271%27=%271",
  "a lot": "A".repeat(6000),
  "a path": "../../x",
};

const queries = ["/api/sessions", `${SESSION}/messages`].flatMap((target) => {
  const path = target.split("/").at(-1);
  return [
    ...Object.entries(LIMITS).map(([name, text]) =>
      get(`limit of ${path}: ${name}`, `${target}?limit=${text}`, INVALID),
    ),
    ...Object.entries(CURSORS).map(([name, text]) =>
      get(`cursor of ${path}: ${name}`, `${target}?cursor=${text}`, INVALID),
    ),
    get(`limit of ${path}: twice`, `${target}?limit=5&limit=6`, INVALID),
    get(`limit of ${path}: twice the same`, `${target}?limit=5&limit=5`, INVALID),
    get(`limit of ${path}: twice, once in escapes`, `${target}?limit=5&l%69mit=6`, INVALID),
    get(`limit of ${path}: without a value`, `${target}?limit`, INVALID),
    get(`cursor of ${path}: twice`, `${target}?cursor=a&cursor=b`, INVALID),
  ];
});

export const PLACE_CASES = [
  ...PATHS,
  ...withId,
  ...BELOW,
  ...queries,
  get("limit of sessions: one hundred and one", "/api/sessions?limit=101", INVALID),
];

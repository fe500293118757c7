// Invalid access tokens.
import { createHmac } from "node:crypto";
import { ISSUER, JWT_SECRET, accessToken, claimsOf, hmac, nowSeconds, tokenOf } from "../tokens.mjs";
import { SESSION, chatBody, get } from "./case.mjs";

const USER = "a0000000-0000-4000-8000-00000000000a";
const HS256 = { alg: "HS256", typ: "JWT" };
const sign = hmac("sha256", JWT_SECRET);
const withClaims = (claims) => accessToken(USER, { claims });
const withHeader = (header, /** @type {(signed: string) => string | Buffer} */ signer = sign) =>
  tokenOf(header, claimsOf(USER), signer);
const segments = accessToken(USER).split(".");
const without = (/** @type {keyof ReturnType<typeof claimsOf>} */ claim) => {
  const { [claim]: _, ...rest } = claimsOf(USER);
  return tokenOf(HS256, rest, sign);
};
const rawClaims = (text) => tokenOf(HS256, JSON.stringify(claimsOf(USER)).replace("{", `{${text},`), sign);

/** Tokens by their defect. `keys` are key pairs whose public keys the Worker knows. */
function forgedTokens({ ec, rsa }) {
  const pem = (key) => key.publicKey.export({ type: "spki", format: "pem" });
  const stranger = "another secret that is long enough for hs256";
  return {
    "is a word": "token",
    "has two parts": segments.slice(0, 2).join("."),
    "has four parts": [...segments, "x"].join("."),
    "has five parts, as if encrypted": ["a", "b", "c", "d", "e"].join("."),
    "is dots": "..",
    "has no signature": `${segments[0]}.${segments[1]}.`,
    "has another signature": `${segments[0]}.${segments[1]}.${"A".repeat(43)}`,
    "has a shortened signature": accessToken(USER).slice(0, -4),
    "has a lengthened signature": `${accessToken(USER)}AAAA`,
    "has padding": `${accessToken(USER)}=`,
    "has changed claims": [segments[0], withClaims({ role: "service_role" }).split(".")[1], segments[2]].join("."),
    "is base64 with other letters": `${segments[0]}+/.${segments[1]}.${segments[2]}`,
    "is no JSON inside": tokenOf("{", "}", sign),
    "has an array for claims": tokenOf(HS256, "[]", sign),
    "has null for claims": tokenOf(HS256, "null", sign),
    "has claims that are a token": tokenOf(HS256, JSON.stringify(accessToken(USER)), sign),
    "is signed with another secret": accessToken(USER, { secret: stranger }),
    "is signed with an empty secret": accessToken(USER, { secret: "" }),
    "names no algorithm": withHeader({ typ: "JWT" }),
    "names the algorithm none": withHeader({ alg: "none" }, () => ""),
    "names the algorithm None": withHeader({ alg: "None" }, () => ""),
    "names the algorithm NONE and is signed": withHeader({ alg: "NONE" }),
    "names an empty algorithm": withHeader({ alg: "" }),
    "names the algorithm as a number": withHeader({ alg: 256 }),
    "names the algorithm as a list": withHeader({ alg: ["HS256"] }),
    "names hs256 in small letters": withHeader({ alg: "hs256" }),
    "names HS384": withHeader({ alg: "HS384" }, hmac("sha384", JWT_SECRET)),
    "names HS512": withHeader({ alg: "HS512" }, hmac("sha512", JWT_SECRET)),
    "names RS256 and is signed with the secret": withHeader({ alg: "RS256" }),
    "names ES256 and is signed with the secret": withHeader({ alg: "ES256" }),
    "names ES256 and a signature of zeros": withHeader({ alg: "ES256", kid: ec.kid }, () => Buffer.alloc(64)),
    "is signed with the public RSA key as secret": withHeader({ ...HS256, kid: rsa.kid }, hmac("sha256", pem(rsa))),
    "is signed with the public EC key as secret": withHeader({ ...HS256, kid: ec.kid }, hmac("sha256", pem(ec))),
    "is signed with the modulus as secret": withHeader({ ...HS256, kid: rsa.kid }, hmac("sha256", rsa.jwk.n)),
    "names RS256 and the key of an ES256": rsa.token(USER, { header: { kid: ec.kid } }),
    "names ES256 and the key of an RS256": ec.token(USER, { header: { kid: rsa.kid } }),
    "names PS256 and an RSA key": rsa.token(USER, { as: "PS256" }),
    "names RS512 and an RSA key": rsa.token(USER, { as: "RS512" }),
    "brings its own key": withHeader({ ...HS256, jwk: { kty: "oct", k: "AAAA" } }, hmac("sha256", Buffer.alloc(3))),
    "brings the address of its key": withHeader({ alg: "RS256", jku: "https://evil.test/jwks.json", kid: "x" }),
    "names a critical extension": withHeader({ ...HS256, crit: ["b64"], b64: false }),
    "names an empty list of critical extensions": withHeader({ ...HS256, crit: [] }),
    "names a path as kid": withHeader({ alg: "RS256", kid: "../../../../dev/null" }, hmac("sha256", "")),
    "names SQL as kid": withHeader({ alg: "RS256", kid: "x' union select 'key'--" }),
    "names an address as kid": withHeader({ alg: "ES256", kid: "https://evil.test/key" }),
    "names NUL as kid": withHeader({ alg: "ES256", kid: "\0" }),
    "names the kid as a number": withHeader({ alg: "ES256", kid: 1 }),
    "has no kid, though its algorithm needs a key": withHeader({ alg: "ES256" }, () => Buffer.alloc(64)),
    "is expired": withClaims({ exp: nowSeconds() - 60 }),
    "is expired since 1970": withClaims({ exp: 0 }),
    "expires as a text": withClaims({ exp: String(nowSeconds() + 600) }),
    "expires as null": withClaims({ exp: null }),
    "expires as true": withClaims({ exp: true }),
    "expires as a list": withClaims({ exp: [nowSeconds() + 600] }),
    "never expires": without("exp"),
    "expires below zero": withClaims({ exp: -1 }),
    "is not valid yet": withClaims({ nbf: nowSeconds() + 3600 }),
    "is valid from a text on": withClaims({ nbf: "0" }),
    "was issued in the future": withClaims({ iat: nowSeconds() + 3600 }),
    "was issued at a text": withClaims({ iat: "now" }),
    "has no issuer": without("iss"),
    "has another issuer": withClaims({ iss: "https://evil.test/auth/v1" }),
    "has an issuer with a slash more": withClaims({ iss: `${ISSUER}/` }),
    "has a list of issuers": withClaims({ iss: [ISSUER] }),
    "has null for issuer": withClaims({ iss: null }),
    "has no audience": without("aud"),
    "has another audience": withClaims({ aud: "anon" }),
    "has an audience like ours": withClaims({ aud: "authenticated " }),
    "has an empty list of audiences": withClaims({ aud: [] }),
    "has an audience in an object": withClaims({ aud: { authenticated: true } }),
    "has a number for audience": withClaims({ aud: 1 }),
    "has the role of visitors": withClaims({ role: "anon" }),
    "has the role of the service": withClaims({ role: "service_role" }),
    "has no role": without("role"),
    "has a list of roles": withClaims({ role: ["authenticated"] }),
    "has no subject": without("sub"),
    "has an empty subject": withClaims({ sub: "" }),
    "has a subject that is no UUID": withClaims({ sub: "admin" }),
    "has a number for subject": withClaims({ sub: 1 }),
    "has a list of subjects": withClaims({ sub: [USER] }),
    "has SQL for subject": withClaims({ sub: `${USER}' or '1'='1` }),
    "has its subject twice": rawClaims(`"sub":"${crypto.randomUUID()}"`),
    "has its role twice": rawClaims('"role":"service_role"'),
    "has its expiry twice": rawClaims('"exp":1'),
    "has nine kilobytes": withClaims({ padding: "x".repeat(9000) }),
    "has a thousand levels": rawClaims(`"x":${"[".repeat(1000)}${"]".repeat(1000)}`),
    "has bytes that are no text": tokenOfBytes(Buffer.from([0x7b, 0xff, 0x7d])),
  };
}

function tokenOfBytes(claims) {
  const signed = `${Buffer.from(JSON.stringify(HS256)).toString("base64url")}.${claims.toString("base64url")}`;
  return `${signed}.${createHmac("sha256", JWT_SECRET).update(signed).digest("base64url")}`;
}

/** Headers with a token in the wrong place. */
const HEADERS = {
  none: [],
  empty: [""],
  "a scheme alone": ["Bearer"],
  "a scheme and a space": ["Bearer "],
  "a token alone": [accessToken(USER)],
  "another scheme": [`Basic ${accessToken(USER)}`],
  "a scheme that begins alike": [`BearerX ${accessToken(USER)}`],
  "a scheme with a colon": [`Bearer: ${accessToken(USER)}`],
  "the scheme twice": [`Bearer Bearer ${accessToken(USER)}`],
  "two tokens": [`Bearer ${accessToken(USER)} ${accessToken(USER)}`],
  "two tokens and a comma": [`Bearer ${accessToken(USER)}, Bearer ${accessToken(USER)}`],
  "two headers": [`Bearer ${accessToken(USER)}`, `Bearer ${accessToken(USER)}`],
  "a good header and a bad one": [`Bearer ${accessToken(USER)}`, "Bearer x"],
  "a tab within the token": [`Bearer ${accessToken(USER).replace(".", "\t.")}`],
  "letters of another script": [Buffer.from("Bearer токен")],
};

const UNAUTHORIZED = [401, "unauthorized"];
const body = () => Buffer.from(chatBody());

const ask = (name, values, target = "/api/chat") => {
  const bytes = body();
  return {
    name: target === "/api/chat" ? name : `${target}: ${name}`,
    method: "POST",
    target,
    headers: [
      ["Content-Type", "application/json"],
      ["Content-Length", String(bytes.length)],
      ...values.map((value) => ["Authorization", value]),
    ],
    pieces: [bytes],
    authorization: null,
    expected: UNAUTHORIZED,
  };
};

const PRIVATE = [
  ["GET", "/api/sessions"],
  ["GET", SESSION],
  ["DELETE", SESSION],
  ["GET", `${SESSION}/messages`],
  ["GET", "/api/documents/d0000000-0000-4000-8000-000000000001/download"],
];

export const tokenCases = (keys) => [
  ...Object.entries(HEADERS).map(([name, values]) => ask(`Authorization: ${name}`, values)),
  ...Object.entries(forgedTokens(keys)).map(([name, token]) => ask(`a token ${name}`, [`Bearer ${token}`])),
  ...Object.entries(forgedTokens(keys)).map(([name, token]) =>
    ask(`a token ${name}`, [`Bearer ${token}`], "/api/search"),
  ),
  ...PRIVATE.map(([method, target]) => ({
    ...get(`${method} ${target} without a token`, target, UNAUTHORIZED, method),
    authorization: null,
  })),
  ...PRIVATE.map(([method, target]) => ({
    ...get(
      `${method} ${target} with a token in the address`,
      `${target}?access_token=${accessToken(USER)}`,
      UNAUTHORIZED,
      method,
    ),
    authorization: null,
  })),
  ...PRIVATE.map(([method, target]) => ({
    ...get(`${method} ${target} with a token in a cookie`, target, UNAUTHORIZED, method),
    headers: [["Cookie", `access_token=${accessToken(USER)}`]],
    authorization: null,
  })),
];

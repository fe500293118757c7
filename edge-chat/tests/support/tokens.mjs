import { constants, createHmac, generateKeyPairSync, sign } from "node:crypto";

export const JWT_SECRET = "a-secret-for-tests-that-is-long-enough-for-hs256";

/** The issuer in the configuration of the tests. A constant, because the stand-in has another port each time. */
export const ISSUER = "https://issuer.test/auth/v1";

export const nowSeconds = () => Math.floor(Date.now() / 1000);

const base64url = (value) => Buffer.from(value).toString("base64url");

/** The claims of an access token of Supabase. */
export function claimsOf(userId, overrides = {}) {
  const now = nowSeconds();
  return {
    iss: ISSUER,
    sub: userId,
    aud: "authenticated",
    role: "authenticated",
    iat: now,
    exp: now + 3600,
    ...overrides,
  };
}

/** An access token signed with the shared secret, with overrides for claims and header. */
export function accessToken(userId, { claims = {}, header = {}, secret = JWT_SECRET } = {}) {
  return tokenOf({ alg: "HS256", typ: "JWT", ...header }, claimsOf(userId, claims), hmac("sha256", secret));
}

/** Creates a token. Header and claims are objects, or JSON text for what objects cannot express. */
export function tokenOf(header, claims, signer) {
  const text = (part) => base64url(typeof part === "string" ? part : JSON.stringify(part));
  const signed = `${text(header)}.${text(claims)}`;
  return `${signed}.${base64url(signer(signed))}`;
}

/** A signer with a shared secret. */
export const hmac = (hash, secret) => (signed) => createHmac(hash, secret).update(signed).digest();

const SIGNERS = {
  ES256: (key) => (signed) => sign("sha256", Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }),
  RS256: (key) => (signed) => sign("sha256", Buffer.from(signed), key),
  RS512: (key) => (signed) => sign("sha512", Buffer.from(signed), key),
  PS256: (key) => (signed) => sign("sha256", Buffer.from(signed), { key, padding: constants.RSA_PKCS1_PSS_PADDING }),
};

const GENERATORS = {
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
};

/** A key pair with its public JWK and a function that creates tokens. */
export function signingKey(alg, kid = crypto.randomUUID()) {
  const { publicKey, privateKey } = GENERATORS[alg]();
  const jwk = { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig", key_ops: ["verify"] };
  return {
    kid,
    jwk,
    publicKey,
    token: (userId, { claims = {}, header = {}, as = alg } = {}) =>
      tokenOf({ alg: as, typ: "JWT", kid, ...header }, claimsOf(userId, claims), SIGNERS[as](privateKey)),
  };
}

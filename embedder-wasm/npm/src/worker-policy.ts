/** The part that is used here: TypeScript's DOM types lack it, and `TrustedScriptURL`, here a `string`. */
interface Policy {
  createScriptURL(url: string): string;
}

interface PageWithTrustedTypes {
  readonly trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
}

/** The version in package.json, filled in by the build. */
declare const PACKAGE_VERSION: string;

/** The page's `trusted-types` directive must list it. */
export const POLICY_NAME = "evidence-chat-embedder";

/**
 * Two copies of this package would need the policy twice, which most pages forbid. They do not
 * share the policy, because any code that reaches it could start any script. They share the one URL
 * that the first copy trusted, as an immutable property: its worker serves all copies of the same
 * version.
 */
const SHARED_URL = Symbol.for(`${POLICY_NAME}@${PACKAGE_VERSION}`);

/** `null` if it could not be created. */
let policy: Policy | null | undefined;
/** The only URL that the policy accepts: the one being trusted right now. No other code can set it. */
let accepted: string | undefined;

/** Whether the browser has Trusted Types. Whether the page requires them cannot be detected. */
export function hasTrustedTypes(): boolean {
  return trustedTypes() !== undefined;
}

/**
 * The URL of the package's worker, trusted by the package's own Trusted Types policy, as a page
 * with `require-trusted-types-for 'script'` requires. It stays a plain string if there are no
 * Trusted Types or the page forbids the policy; then `new Worker` throws on a page that requires
 * them.
 */
export function trustWorkerUrl(url: string): string {
  const shared = (globalThis as { readonly [key: symbol]: string | undefined })[SHARED_URL];
  policy ??= createPolicy();
  if (policy === null) return shared ?? url;
  accepted = url;
  const trusted = policy.createScriptURL(url);
  accepted = undefined;
  if (shared === undefined) Object.defineProperty(globalThis, SHARED_URL, { value: trusted });
  return trusted;
}

function createPolicy(): Policy | null {
  try {
    return trustedTypes()?.createPolicy(POLICY_NAME, { createScriptURL: onlyAccepted }) ?? null;
  } catch {
    // The page's directive forbids it, or another copy of the package created it first.
    return null;
  }
}

function onlyAccepted(url: string): string {
  if (url !== accepted) throw new TypeError(`${POLICY_NAME} trusts only the package's own worker.`);
  return url;
}

function trustedTypes(): PageWithTrustedTypes["trustedTypes"] {
  return (globalThis as PageWithTrustedTypes).trustedTypes;
}

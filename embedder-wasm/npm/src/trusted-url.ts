/** Name of the Trusted Types policy: a page's `trusted-types` directive has to list it. */
export const POLICY_NAME = "evidence-chat-embedder";

/** Filled in by the build: the version in package.json. */
declare const PACKAGE_VERSION: string;

/** As far as it is needed here: TypeScript's DOM types do not know it, nor `TrustedScriptURL`, here a `string`. */
interface Policy {
  createScriptURL(url: string): string;
}

interface PageWithTrustedTypes {
  readonly trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
}

/** The only address that the policy passes: the one that is being trusted right now. Nobody else can set it. */
let passing: string | undefined;
/** `null` where it could not be made. */
let policy: Policy | null | undefined;

/** Whether the browser has Trusted Types; whether the page requires them cannot be asked. */
export function hasTrustedTypes(): boolean {
  return trustedTypes() !== undefined;
}

/**
 * The address of a worker's script in the form that a page with `require-trusted-types-for 'script'` wants. It stays a
 * plain string where there are no Trusted Types or the page forbids the policy; `new Worker` tells if the page minds.
 *
 * Two copies of this package would need the policy twice, which most pages forbid. They do not share it, for whoever
 * gets hold of it could start any script. What they share is the one address that the first copy trusted, as an object
 * that cannot be changed: its worker serves all copies of the same version.
 */
export function trustedUrl(url: string): string {
  if (policy === undefined) policy = createPolicy();
  if (policy === null) return sharedUrl() ?? url;
  passing = url;
  const trusted = policy.createScriptURL(url);
  passing = undefined;
  if (sharedUrl() === undefined) Object.defineProperty(globalThis, sharedKey(), { value: trusted });
  return trusted;
}

function createPolicy(): Policy | null {
  try {
    return trustedTypes()?.createPolicy(POLICY_NAME, { createScriptURL: onlyPassing }) ?? null;
  } catch {
    // The page's directive forbids it, or another copy of the package was first.
    return null;
  }
}

function onlyPassing(url: string): string {
  if (url !== passing) throw new TypeError(`${POLICY_NAME} trusts only the embedder's own worker.`);
  return url;
}

function trustedTypes(): PageWithTrustedTypes["trustedTypes"] {
  return (globalThis as PageWithTrustedTypes).trustedTypes;
}

function sharedUrl(): string | undefined {
  return (globalThis as { readonly [key: symbol]: string | undefined })[sharedKey()];
}

function sharedKey(): symbol {
  return Symbol.for(`${POLICY_NAME}@${PACKAGE_VERSION}`);
}

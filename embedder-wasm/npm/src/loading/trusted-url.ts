/** The part that is used here: TypeScript's DOM types lack it, and `TrustedScriptURL`, here a `string`. */
interface Policy {
  createScriptURL(url: string): string;
}

interface PageWithTrustedTypes {
  readonly trustedTypes?: { createPolicy(name: string, rules: Policy): Policy };
}

/** Whether the browser has Trusted Types. Whether the page requires them cannot be detected. */
export function hasTrustedTypes(): boolean {
  return trustedTypes() !== undefined;
}

/**
 * The Trusted Types policy of a package: it trusts the URL of the package's worker, as a page with
 * `require-trusted-types-for 'script'` requires.
 *
 * Two copies of a package would need the policy twice, which most pages forbid. They do not share the policy, because
 * any code that reaches it could start any script. They share the one URL that the first copy trusted, as an immutable
 * object: its worker serves all copies of the same version.
 */
export class WorkerPolicy {
  readonly name: string;
  readonly #version: string;
  /** The only URL that the policy accepts: the one being trusted right now. No other code can set it. */
  #accepted: string | undefined;
  /** `null` if it could not be created. */
  #policy: Policy | null | undefined;

  /** `name`: the page's `trusted-types` directive must list it. `version`: that of the package. */
  constructor(name: string, version: string) {
    this.name = name;
    this.#version = version;
  }

  /**
   * The trusted URL. It stays a plain string if there are no Trusted Types or the page forbids the policy; then `new
   * Worker` throws on a page that requires them.
   */
  trust(url: string): string {
    this.#policy ??= this.#create();
    if (this.#policy === null) return this.#sharedUrl() ?? url;
    this.#accepted = url;
    const trusted = this.#policy.createScriptURL(url);
    this.#accepted = undefined;
    if (this.#sharedUrl() === undefined) Object.defineProperty(globalThis, this.#sharedKey(), { value: trusted });
    return trusted;
  }

  #create(): Policy | null {
    try {
      return trustedTypes()?.createPolicy(this.name, { createScriptURL: (url) => this.#onlyAccepted(url) }) ?? null;
    } catch {
      // The page's directive forbids it, or another copy of the package created it first.
      return null;
    }
  }

  #onlyAccepted(url: string): string {
    if (url !== this.#accepted) throw new TypeError(`${this.name} trusts only the package's own worker.`);
    return url;
  }

  #sharedUrl(): string | undefined {
    return (globalThis as { readonly [key: symbol]: string | undefined })[this.#sharedKey()];
  }

  #sharedKey(): symbol {
    return Symbol.for(`${this.name}@${this.#version}`);
  }
}

function trustedTypes(): PageWithTrustedTypes["trustedTypes"] {
  return (globalThis as PageWithTrustedTypes).trustedTypes;
}

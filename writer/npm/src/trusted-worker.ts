/**
 * Stands in for the global `Worker` in wllama (see build.mjs), which starts its worker from a `blob:` URL: a page with
 * `require-trusted-types-for 'script'` accepts only a URL from a Trusted Types policy.
 */
interface PageWithTrustedTypes {
  readonly trustedTypes?: { createPolicy(name: string, rules: object): Policy };
}

interface Policy {
  createScriptURL(url: string): string;
}

let policy: Policy | undefined;

/** Creates the policy. Throws if the page's directive `trusted-types` does not list it. */
export function createPolicy(): void {
  policy ??= (globalThis as PageWithTrustedTypes).trustedTypes?.createPolicy("evidence-chat-writer", {
    createScriptURL(url: string) {
      if (url.startsWith("blob:")) return url;
      throw new TypeError("evidence-chat-writer trusts only wllama's own worker.");
    },
  });
}

function TrustedWorker(url: string, options: WorkerOptions): Worker {
  return new globalThis.Worker(policy?.createScriptURL(url) ?? url, options);
}

export { TrustedWorker as Worker };

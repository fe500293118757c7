/** The part of the API of Cloudflare Turnstile that is used here. */
interface Turnstile {
  render(container: HTMLElement, options: Readonly<Record<string, unknown>>): string | undefined;
  remove(widgetId: string): void;
}

const SCRIPT = "https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit";
/** A visitor may have to click. */
const TIMEOUT_MS = 120_000;

/**
 * A token of Cloudflare Turnstile. `container` is empty unless the visitor must do something. The script comes from Cloudflare, and
 * only when this is called.
 */
export async function turnstileToken(siteKey: string, container: HTMLElement, language: string): Promise<string> {
  const turnstile = await loadTurnstile();
  let id: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    return await new Promise<string>((resolve, reject) => {
      const fail = (reason: string) => () => {
        reject(new Error(reason));
        // Turnstile would report an error that nobody handles.
        return true;
      };
      timer = setTimeout(fail("Turnstile was not solved in time."), TIMEOUT_MS);
      id = turnstile.render(container, {
        sitekey: siteKey,
        language,
        appearance: "interaction-only",
        callback: resolve,
        "error-callback": (code: unknown) => fail(`Turnstile reported the error ${String(code)}.`)(),
        "timeout-callback": fail("Turnstile was not solved in time."),
        "unsupported-callback": fail("Turnstile does not support this browser."),
      });
    });
  } finally {
    clearTimeout(timer);
    if (id !== undefined) turnstile.remove(id);
  }
}

async function loadTurnstile(): Promise<Turnstile> {
  const page = globalThis as { turnstile?: Turnstile };
  if (!page.turnstile) await loadScript();
  if (!page.turnstile) throw new Error("The script of Turnstile did not start.");
  return page.turnstile;
}

function loadScript(): Promise<void> {
  const script = document.createElement("script");
  script.src = trusted(SCRIPT);
  script.async = true;
  return new Promise<void>((resolve, reject) => {
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(new Error(`${SCRIPT} could not be loaded. The Content-Security-Policy of the page must allow it.`));
    };
    document.head.append(script);
  });
}

interface Policy {
  createScriptURL(url: string): string;
}

/** A page may create a policy only once. */
let policy: Policy | undefined;

/** Pages with Trusted Types allow only URLs of a named policy. */
function trusted(url: string): string {
  const { trustedTypes } = globalThis as {
    trustedTypes?: { createPolicy(name: string, rules: object): Policy };
  };
  policy ??= trustedTypes?.createPolicy("evidence-chat-turnstile", { createScriptURL: () => SCRIPT });
  return policy?.createScriptURL(url) ?? url;
}

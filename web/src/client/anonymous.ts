import { AnonymousStore, type StoredSession } from "./anonymous-store.js";
import { asNumber, asString, type JsonObject, parseObject } from "./json.js";

/** Where visitors without an account are signed in. */
export interface AnonymousOptions {
  /** URL of the Supabase project. */
  readonly supabaseUrl: string;
  /** URL of POST /api/chat. Its server gets the tokens, and no other server does. */
  readonly endpoint: string;
  /** Publishable key of the project. */
  readonly supabaseKey: string;
  /** Gets the token of a CAPTCHA, if Supabase Auth asks for one. Called for each sign-in. */
  readonly captchaToken?: (() => Promise<string>) | undefined;
}

/**
 * Why a visitor could not be signed in. `disabled`: the project does not allow it. `rate_limited`: too many new visitors from one IP
 * address. `captcha`: there was no valid CAPTCHA token. `rejected`: the project rejected the request, for example the key.
 * `unreachable`: there was no usable response.
 */
export type AnonymousErrorCode = "disabled" | "rate_limited" | "captcha" | "rejected" | "unreachable";

/** A failed sign-in. `message` is an English sentence for the owner of the site. */
export class AnonymousSignInError extends Error {
  override readonly name = "AnonymousSignInError";
  readonly code: AnonymousErrorCode;
  /** Seconds until the next attempt; only with `rate_limited`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: AnonymousErrorCode, message: string, retryAfterSeconds?: number, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * The session of a visitor without an account, in one project of Supabase and for one chat server. It is stored in the browser and shared by all tabs of an
 * origin; each token is renewed once, by one of them.
 */
export class AnonymousSession {
  readonly #options: AnonymousOptions;
  readonly #store: AnonymousStore;
  readonly #now: () => number;
  /** Renewals of this page, one after another. */
  #last: Promise<unknown> = Promise.resolve();
  /** An access token that a server rejected. */
  #rejected: string | undefined;
  /** The last sign-in failed because of a rate limit, until this time. */
  #limitedUntil = 0;

  /** `store` and `now` are for tests. */
  constructor(
    options: AnonymousOptions,
    store = new AnonymousStore(options.supabaseUrl, options.endpoint),
    now = () => Date.now(),
  ) {
    this.#options = options;
    this.#store = store;
    this.#now = now;
  }

  /** The access token, renewed if necessary; `null` if the visitor has no session. Never signs anybody in. */
  readonly currentToken = (): Promise<string | null> => this.#token(false);

  /** The access token. Signs the visitor in if there is no session. Throws an {@link AnonymousSignInError} if that fails. */
  readonly signIn = (): Promise<string | null> => this.#token(true);

  /** A server rejected the current access token: renews it before the next use. */
  reject(): void {
    this.#rejected = this.#store.read()?.access_token;
  }

  #token(mayBegin: boolean): Promise<string | null> {
    const session = this.#store.read();
    if (!session && !mayBegin) return Promise.resolve(null);
    if (session && this.#isUsable(session)) return Promise.resolve(session.access_token);
    const next = this.#last.then(() => this.#next(mayBegin));
    this.#last = next.catch(() => undefined);
    return next;
  }

  #isUsable({ access_token, received_at, lifetime_ms }: StoredSession, margin = MARGIN_MS): boolean {
    const age = this.#now() - received_at;
    // A negative age: the clock was set back, so the age is unknown.
    return access_token !== this.#rejected && age >= 0 && age < lifetime_ms - Math.min(margin, lifetime_ms / 4);
  }

  async #next(mayBegin: boolean): Promise<string | null> {
    const renewed = this.#store.read() && (await this.#store.exclusively(() => this.#renew()));
    if (renewed || !mayBegin) return renewed ?? null;
    const waitMs = this.#limitedUntil - this.#now();
    if (waitMs > 0) throw rateLimited(Math.ceil(waitMs / 1000));
    // Meanwhile other tabs need not wait: the visitor may have something to do.
    const captchaToken = await this.#captchaToken();
    return this.#store.exclusively(async () => (await this.#renew()) ?? this.#begin(captchaToken));
  }

  /** The access token; `undefined` without a session. */
  async #renew(): Promise<string | undefined> {
    // Another tab may have renewed it meanwhile.
    const session = this.#store.read();
    return session && (this.#isUsable(session) ? session.access_token : this.#refresh(session));
  }

  /** A new access token; `undefined` if Supabase Auth no longer knows the session, or the user. */
  async #refresh(session: StoredSession): Promise<string | undefined> {
    try {
      const { refresh_token } = session;
      const { status, json } = await this.#post("token?grant_type=refresh_token", { refresh_token });
      if (status === 200) return this.#keep(json);
      // Another key or URL does not end a session.
      if (![400, 403, 404].includes(status)) throw failure(status, json);
    } catch (thrown) {
      if (this.#isUsable(session, 0)) return session.access_token;
      throw thrown;
    }
    this.#store.remove();
    return undefined;
  }

  async #begin(captcha_token: string | undefined): Promise<string> {
    const { status, json, retryAfter } = await this.#post("signup", {
      // By this mark the retention of the database recognizes its own users.
      data: { created_by: "evidence-chat" },
      gotrue_meta_security: { ...(captcha_token !== undefined && { captcha_token }) },
    });
    if (status === 200) return this.#keep(json);
    const error = failure(status, json, retryAfter);
    if (error.retryAfterSeconds !== undefined) this.#limitedUntil = this.#now() + error.retryAfterSeconds * 1000;
    throw error;
  }

  async #captchaToken(): Promise<string | undefined> {
    try {
      return await this.#options.captchaToken?.();
    } catch (thrown) {
      throw new AnonymousSignInError("captcha", `The CAPTCHA failed: ${messageOf(thrown)}`, undefined, {
        cause: thrown,
      });
    }
  }

  #keep(json: JsonObject | undefined): string {
    const [access_token, refresh_token] = [asString(json?.access_token), asString(json?.refresh_token)];
    if (!access_token || !refresh_token)
      throw new AnonymousSignInError("unreachable", "Supabase Auth sent a response without a session.");
    const lifetime_ms = (asNumber(json?.expires_in) ?? DEFAULT_LIFETIME_S) * 1000;
    this.#store.write({ access_token, refresh_token, lifetime_ms, received_at: this.#now() });
    return access_token;
  }

  async #post(path: string, body: JsonObject) {
    const { supabaseUrl, supabaseKey } = this.#options;
    try {
      const response = await fetch(`${supabaseUrl.replace(/\/+$/, "")}/auth/v1/${path}`, {
        method: "POST",
        headers: { apikey: supabaseKey, "content-type": "application/json" },
        body: JSON.stringify(body),
        credentials: "omit",
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const { status, headers } = response;
      return { status, json: parseObject(await response.text()), retryAfter: headers.get("retry-after") };
    } catch (thrown) {
      const message = `Supabase Auth could not be reached: ${messageOf(thrown)}`;
      throw new AnonymousSignInError("unreachable", message, undefined, { cause: thrown });
    }
  }
}

function failure(status: number, json: JsonObject | undefined, retryAfter: string | null = null): AnonymousSignInError {
  const code = asString(json?.error_code) ?? asString(json?.code);
  if (code === "anonymous_provider_disabled" || code === "signup_disabled")
    return new AnonymousSignInError(
      "disabled",
      "Supabase Auth does not allow anonymous sign-ins. Turn them on in the dashboard: Authentication, Sign In / Providers, Allow anonymous sign-ins.",
    );
  if (code === "captcha_failed")
    return new AnonymousSignInError(
      "captcha",
      "Supabase Auth rejected the CAPTCHA token. It needs the site key (turnstile-site-key or CHAT_TURNSTILE_SITE_KEY) that belongs to its secret key.",
    );
  if (status === 429) {
    const seconds = Number.parseInt(retryAfter ?? "", 10);
    return rateLimited(seconds > 0 ? seconds : DEFAULT_WAIT_S);
  }
  const reason = asString(json?.msg) ?? asString(json?.message) ?? "no message";
  return new AnonymousSignInError(
    status >= 500 ? "unreachable" : "rejected",
    `Supabase Auth answered with status ${status}: ${reason}`,
  );
}

function rateLimited(seconds: number): AnonymousSignInError {
  return new AnonymousSignInError(
    "rate_limited",
    `Supabase Auth limits anonymous sign-ins per IP address (dashboard: Authentication, Rate Limits). Next attempt in ${seconds} seconds.`,
    seconds,
  );
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** A token is renewed this long before it ends, so that it does not end on its way. */
const MARGIN_MS = 60_000;
const TIMEOUT_MS = 15_000;
const DEFAULT_LIFETIME_S = 3600;
/** Supabase Auth allows 30 sign-ins an hour by default: after the first 30, one every two minutes. */
const DEFAULT_WAIT_S = 120;

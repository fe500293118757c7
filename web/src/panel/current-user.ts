import { Identity } from "../client/identity.js";
import { optional } from "../client/json.js";
import { type ChatClientOptions, idleTimeout, type TokenProvider, withTimeout } from "../client/request.js";
import type { ChatConfig } from "../client/wire.js";
import type { PanelHost } from "./host.js";
import * as owned from "./user-switch.js";
import { LazyVisitor } from "./visitor/lazy-visitor.js";

/** A visitor who is signed in without an account may have a CAPTCHA to solve first. */
const SIGN_IN_MS = 180_000;

/** The conversation that a tab had on the page before. */
export interface RememberedConversation {
  readonly id: string;
  /** Whether it is this user's. */
  readonly isOwn: (signal: AbortSignal) => Promise<boolean>;
}

/** The user of one widget: whose token requests have, and whose are the question, the draft and the conversation. See user-switch.ts. */
export class CurrentUser {
  readonly #host: PanelHost;
  readonly #onSwitch: (change: owned.UserSwitch) => void;
  /** Signs visitors in if the page does not. */
  readonly #visitor: LazyVisitor;
  #identity: Identity;
  #state = owned.NOTHING;
  #visit = new AbortController();
  /** The session that this tab remembers because of this page. */
  #remembered: string | undefined;
  /** Whether the visitor has typed the present text, also before this code was loaded. */
  #isTyped = true;

  /** `config` gives the settings of the site for everybody. */
  constructor(host: PanelHost, config: () => Promise<ChatConfig>, onSwitch: (change: owned.UserSwitch) => void) {
    this.#host = host;
    this.#onSwitch = onSwitch;
    this.#visitor = new LazyVisitor(host, config);
    this.#identity = this.#newIdentity();
    // Before the question box, which reports each change.
    host.frame.composer.root.addEventListener("input", () => (this.#isTyped = true), { capture: true });
  }

  /** Whether the visitor needs no account and has never asked anything. */
  get isNew(): boolean {
    return this.#visitor.isNew;
  }

  /** Aborted when the user changes. */
  get visit(): AbortSignal {
    return this.#visit.signal;
  }

  /** The running question, unless it is a retry. */
  get question(): string | undefined {
    return this.#state.question;
  }

  set question(question: string | undefined) {
    this.#state = { ...this.#state, question };
  }

  /** For requests of the present user: they are not sent with the token of another one. */
  readonly client = (): ChatClientOptions => {
    const identity = this.#identity;
    const { user } = identity;
    const { element } = this.#host;
    return {
      endpoint: element.endpoint,
      ...optional("tokenTimeoutMs", element.tokenProvider ? undefined : SIGN_IN_MS),
      ...optional("assistant", element.getAttribute("assistant") ?? undefined),
      tokenProvider: async () => {
        const { turn } = this.#state;
        const token = await identity.tokenProvider();
        this.#state = owned.tokenArrived(this.#state, turn);
        return user === undefined || user === identity.user ? token : null;
      },
      onTokenRejected: () => this.#visitor.reject(),
    };
  };

  /** Notices a change of user now instead of with the next request. */
  async check(): Promise<void> {
    await this.#identity.check();
  }

  /** The visitor asks. `needsToken`: the request itself asks for its token only later. */
  asked(needsToken: boolean): void {
    this.#state = owned.asked(this.#state);
    this.#visitor.hasAsked = true;
    if (needsToken) void this.#requestToken();
  }

  /** The text in the question box is another one. A new user may have begun it, so a token is requested at once. */
  draftChanged(text: string): void {
    const before = this.#state.draftUntil;
    this.#state = owned.textChanged(this.#state, text, this.#isTyped, performance.now());
    this.#isTyped = false;
    if (before === undefined && this.#state.draftUntil) this.#awaitDraftToken();
  }

  /** The page has begun to say who is signed in. It may find out late, so what is typed by then is the user's. */
  signedIn(): void {
    if (!this.#state.draftUntil) return void this.check();
    this.#state = owned.draftChecked(this.#state, performance.now());
    this.#awaitDraftToken();
  }

  /** Decides what is cleared because the page has ceased to say who is signed in. */
  lostBySignOut(isRunning: boolean): ReturnType<typeof owned.lostBySignOut> {
    return owned.lostBySignOut(this.#state, this.#identity.user, isRunning);
  }

  /** Forgets the user. What is shown from now on is that of `next.user` if it is given. */
  leave(next: Partial<owned.UserSwitch> = {}): void {
    this.#identity = this.#newIdentity(next.user);
    this.#visitor.hasAsked = next.question !== undefined;
    this.#host.memory.text = "";
    this.#visit.abort();
    this.#visit = new AbortController();
  }

  /** Makes this tab remember the session for the next page, or forget the one that has ended. */
  remember(sessionId: string | undefined): void {
    if (sessionId === this.#remembered) return;
    this.#remembered = sessionId;
    this.#host.memory.text = owned.memoryOf(sessionId, this.#identity.user);
  }

  /** The conversation that this tab remembers, if any. */
  get remembered(): RememberedConversation | undefined {
    const { memory } = this.#host;
    const { text } = memory;
    const id = owned.sessionIn(text);
    if (id === undefined) return undefined;
    const isOwn = async (signal: AbortSignal) => {
      const identity = this.#identity;
      try {
        // A page's provider may never answer, and questions wait for this.
        await withTimeout(idleTimeout(this.client()), identity.check(), signal);
      } catch {
        return false;
      }
      const { user } = identity;
      const isSame = owned.isOwn(text, user);
      if (isSame) this.#remembered = id;
      else if (user) memory.text = "";
      return isSame;
    };
    return { id, isOwn };
  }

  #awaitDraftToken(): void {
    const until = this.#state.draftUntil;
    const arrived = () => (this.#state = owned.draftTokenArrived(this.#state, until, performance.now()));
    void this.#requestToken().then(arrived);
  }

  async #requestToken(): Promise<void> {
    await this.client()
      .tokenProvider()
      .catch(() => null);
  }

  /** Without a user, the first one to appear is not a change. */
  #newIdentity(user?: string): Identity {
    const identity: Identity = new Identity(
      () => {
        const { tokenProvider } = this.#host.element;
        return tokenProvider ? reportFailures(tokenProvider) : this.#visitor.tokenProvider;
      },
      (previous, next) => {
        // Ignores changes that requests of an earlier visitor notice.
        if (identity !== this.#identity) return;
        const [state, change] = owned.userChanged(this.#state, previous, next, performance.now());
        this.#state = state;
        this.#onSwitch(change);
      },
      user,
    );
    return identity;
  }
}

/**
 * The page's token provider, with its failures in the console. Only their messages: an error's other properties may
 * contain a token.
 */
export function reportFailures(provider: TokenProvider): TokenProvider {
  return async () => {
    try {
      return await provider();
    } catch (thrown) {
      console.error(
        "<evidence-chat>: tokenProvider failed:",
        thrown instanceof Error ? thrown.message : String(thrown),
      );
      throw thrown;
    }
  };
}

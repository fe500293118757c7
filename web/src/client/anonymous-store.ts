import { asNumber, asString, parseObject } from "./json.js";

/** A session of Supabase Auth. All times are those of this device, so that a wrong clock does no harm. */
export interface StoredSession {
  readonly access_token: string;
  readonly refresh_token: string;
  /** Milliseconds from `received_at` to the end of the access token. */
  readonly lifetime_ms: number;
  /** When the session was received, in milliseconds since 1970. */
  readonly received_at: number;
}

/** The parts of the browser that the store uses. */
export interface StoreEnvironment {
  /** `undefined` if the browser blocks storage. */
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem"> | undefined;
  /** `undefined` on pages without TLS. */
  readonly locks: Pick<LockManager, "request"> | undefined;
  readonly pause: (milliseconds: number) => Promise<void>;
}

/**
 * The session of one project and one chat server, for all tabs of an origin: a server that names the project of another one must not
 * get the tokens of its visitors. Without storage, for this page only.
 */
export class AnonymousStore {
  readonly #key: string;
  readonly #environment: StoreEnvironment;
  /** A session that the browser could not store, because storage is blocked or full. */
  #inMemory: string | null = null;

  constructor(supabaseUrl: string, endpoint: string, environment: StoreEnvironment = browserEnvironment()) {
    this.#key = storageKey(supabaseUrl, endpoint);
    this.#environment = environment;
  }

  /** Reads the session again each time, because other tabs write it, too. */
  read(): StoredSession | undefined {
    const json = parseObject(this.#inMemory ?? this.#get(this.#key) ?? "");
    const [access_token, refresh_token] = [asString(json?.access_token), asString(json?.refresh_token)];
    const [lifetime_ms, received_at] = [asNumber(json?.lifetime_ms), asNumber(json?.received_at)];
    if (!access_token || !refresh_token || lifetime_ms === undefined || received_at === undefined) return undefined;
    return { access_token, refresh_token, lifetime_ms, received_at };
  }

  write(session: StoredSession): void {
    const text = JSON.stringify(session);
    this.#inMemory = this.#set(this.#key, text) ? null : text;
  }

  remove(): void {
    this.#inMemory = null;
    this.#unset(this.#key);
  }

  /** Runs `work` while no other tab runs its own. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { locks, storage } = this.#environment;
    // Tabs have nothing to share, and a browser that blocks storage rejects requests for locks, too. On a page
    // without TLS, tabs that sign in at once make a second user, who is forgotten.
    return storage && locks ? this.#withLock(locks, work) : work();
  }

  async #withLock<T>(locks: Pick<LockManager, "request">, work: () => Promise<T>): Promise<T> {
    const before = this.#get(this.#key);
    const first = await locks.request(
      this.#key,
      { ifAvailable: true },
      async (lock) => lock && { value: await work() },
    );
    if (first) return first.value;
    let isHeld = false;
    try {
      return await locks.request(this.#key, { signal: AbortSignal.timeout(MAX_LOCKED_MS) }, async () => {
        isHeld = true;
        await this.#changedSince(before);
        return work();
      });
    } catch (thrown) {
      if (isHeld) throw thrown;
      // A tab that the browser has suspended may hold the lock.
      return work();
    }
  }

  /** Waits for what the tab wrote that held the lock before: between processes, the lock is faster than the storage. */
  async #changedSince(before: string | null): Promise<void> {
    for (let polls = 0; polls < MAX_POLLS && this.#get(this.#key) === before; polls++)
      await this.#environment.pause(POLL_MS);
  }

  #get(key: string): string | null {
    try {
      return this.#environment.storage?.getItem(key) ?? null;
    } catch {
      return null;
    }
  }

  /** Whether the browser stored the value. */
  #set(key: string, value: string): boolean {
    try {
      this.#environment.storage?.setItem(key, value);
      return this.#environment.storage !== undefined;
    } catch {
      return false;
    }
  }

  #unset(key: string): void {
    try {
      this.#environment.storage?.removeItem(key);
    } catch {
      // There is nothing to remove where nothing can be stored.
    }
  }
}

/** Longer than a request of this client may take. */
const MAX_LOCKED_MS = 20_000;
/** The pause between two looks at the storage. */
const POLL_MS = 50;
/** If the storage has not changed after so many looks, the tab that held the lock wrote nothing. */
const MAX_POLLS = 20;

/** Where the session is stored. The endpoint may be relative to the page. */
export function storageKey(supabaseUrl: string, endpoint: string): string {
  const { origin } = new URL(endpoint, globalThis.document?.baseURI);
  return `${STORAGE_PREFIX}${origin} ${supabaseUrl.replace(/\/+$/, "")}`;
}

/** `lazy-visitor.ts` looks for it. */
const STORAGE_PREFIX = "evidence-chat:anonymous:";

function browserEnvironment(): StoreEnvironment {
  return {
    storage: browserStorage(),
    locks: globalThis.navigator?.locks,
    pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  };
}

/** Browsers that block storage throw when it is read; in some apps it is `null`. */
function browserStorage(): Storage | undefined {
  try {
    return globalThis.localStorage ?? undefined;
  } catch {
    return undefined;
  }
}

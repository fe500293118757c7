// The bindings of the crate, which `cargo xtask build worker` writes next to the shim.

/** `criticalError`: whether Rust panicked. `instanceId`: grows with each start. */
export function __worker_init_state(): { criticalError: boolean; instanceId: number };
/** Starts Rust again. */
export function __wbg_reset_state(): void;
/** Answers a request; `this` is the entry point. */
export function fetch(this: unknown, request: Request, env: unknown, context: unknown): Promise<Response>;

/** The Durable Object. */
export class UserGate {
  constructor(state: unknown, env: unknown);
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
}

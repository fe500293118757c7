/** The part of the runtime's own module that the Workers of tests and benches use. */
declare module "cloudflare:workers" {
  interface Context {
    storage: {
      sql: { exec(query: string, ...values: unknown[]): Iterable<Record<string, unknown>> };
      getAlarm(): Promise<number | null>;
      deleteAlarm(): Promise<void>;
    };
  }

  /** Bindings and variables of wrangler.toml. */
  interface Environment {
    SUPABASE_URL: string;
    USER_GATE: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
    REQUEST_LIMIT: { limit(options: { key: string }): Promise<{ success: boolean }> };
  }

  export class DurableObject {
    constructor(context: Context, env: Environment);
  }

  export class WorkerEntrypoint {
    constructor(context: Context, env: Environment);
    env: Environment;
    ctx: unknown;
    fetch(request: Request): Promise<Response>;
  }
}

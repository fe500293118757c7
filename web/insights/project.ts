/** The Supabase project of the chat, as `GET /api/project` describes it. */
export interface Project {
  /** URL without a trailing slash. */
  readonly supabase_url: string;
  readonly publishable_key: string;
}

/** Asks the server of this page. Fails with a sentence for the reader. */
export async function loadProject(): Promise<Project> {
  const response = await fetch("/api/project").catch(() => undefined);
  if (!response?.ok) {
    throw new Error(`The server did not say which Supabase project it uses (${response?.status ?? "no connection"}).`);
  }
  return (await response.json()) as Project;
}

/** Where the browser stores the session of an anonymous visitor of a project. */
export function storageKey(supabaseUrl: string): string {
  return `evidence-chat:anonymous:${supabaseUrl.replace(/\/+$/, "")}`;
}

/** The demo server's /config.json. */
export interface DemoConfig {
  /** URL of POST /api/chat; empty if the widget comes from the Worker. */
  readonly chatEndpoint: string;
  readonly supabaseUrl: string;
  readonly supabasePublishableKey: string;
  /** The test login that is filled in for the visitor. */
  readonly demoEmail: string;
  readonly demoPassword: string;
  /** URL of a language model that writes answers in the browser; empty if there is none. */
  readonly onDeviceModelUrl: string;
  /** Whether the documents are not those of the sample shop. */
  readonly hasOwnDocuments: boolean;
}

export async function loadConfig(): Promise<DemoConfig> {
  const response = await fetch("/config.json");
  if (!response.ok) throw new Error(`/config.json answered with status ${response.status}.`);
  return (await response.json()) as DemoConfig;
}

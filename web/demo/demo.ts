/** The help-centre page: visitors sign in, ask, and see how the answer is found. */
import { createClient } from "@supabase/supabase-js";
import type { EvidenceChatElement } from "../src/index.js";
import { type DemoConfig, loadConfig } from "./config.js";
import { setUpEmbedHint } from "./embed-hint.js";
import { EvidencePanel } from "./evidence/evidence-panel.js";
import { PageLanguage } from "./language.js";
import { showOwnDocuments } from "./own-documents.js";
import { byId, showView } from "./page.js";
import { setUpSignIn } from "./sign-in.js";
import { StagesPanel } from "./stages/stages-panel.js";
import { setUpSwitches } from "./switches.js";
import { showExamples } from "./try-these.js";

// The page loads the widget's script first, as any page does; this module only needs the types.
const chat = byId("chat", HTMLElement) as EvidenceChatElement;
const language = new PageLanguage();
const panels = [new StagesPanel(chat, language), new EvidencePanel(chat, language)];
setUpEmbedHint(chat, language);
setUpSwitches(chat, language);

loadConfig().then(start, () => showView("failed"));

function start(config: DemoConfig): void {
  if (config.hasOwnDocuments) showOwnDocuments(chat, language);
  else showExamples(chat, language);
  const supabase = createClient(config.supabaseUrl, config.supabasePublishableKey);
  chat.tokenProvider = async () => {
    const { data, error } = await supabase.auth.getSession();
    // For instance offline, which is not a sign-out.
    if (error) throw error;
    return data.session?.access_token ?? null;
  };
  if (config.onDeviceModelUrl) chat.setAttribute("writer-model-url", config.onDeviceModelUrl);
  if (config.chatEndpoint) chat.endpoint = config.chatEndpoint;

  setUpSignIn(supabase, config, language);
  byId("sign-out", HTMLButtonElement).addEventListener("click", () => void supabase.auth.signOut({ scope: "local" }));

  let visitor: string | undefined;
  supabase.auth.onAuthStateChange((_event, session) => {
    // The next visitor must not see or continue the previous conversation.
    if (visitor !== undefined && visitor !== session?.user.id) clear();
    visitor = session?.user.id;
    byId("account-email", HTMLElement).textContent = session?.user.email ?? "";
    showView(session ? "chat" : "sign-in");
  });
}

function clear(): void {
  chat.clear();
  for (const panel of panels) panel.clear();
}

/** The help-centre page: sign in, then ask, and see what happens. */
import { createClient } from "@supabase/supabase-js";
import type { EvidenceChatElement } from "../src/index.js";
import { type DemoConfig, loadConfig } from "./config.js";
import { setUpEmbedHint } from "./embed-hint.js";
import { EvidencePanel } from "./evidence/evidence-panel.js";
import { PageLanguage } from "./language.js";
import { byId, showView } from "./page.js";
import { setUpSignIn } from "./sign-in.js";
import { StagesPanel } from "./stages/stages-panel.js";
import { setUpSwitches } from "./switches.js";
import { showExamples } from "./try-these.js";

// The class comes from the widget's own script, which the page loads first, as any page would.
const chat = byId("chat", HTMLElement) as EvidenceChatElement;
const language = new PageLanguage();
const panels = [new StagesPanel(chat, language), new EvidencePanel(chat, language)];
setUpEmbedHint(chat, language);
showExamples(chat, language);
setUpSwitches(chat, language);

loadConfig().then(start, () => showView("failed"));

function start(config: DemoConfig): void {
  const supabase = createClient(config.supabaseUrl, config.supabasePublishableKey);
  chat.tokenProvider = async () => {
    const { data, error } = await supabase.auth.getSession();
    // Offline, say: that is no sign-out.
    if (error) throw error;
    return data.session?.access_token ?? null;
  };
  chat.modelUrl = config.modelUrl;
  chat.endpoint = config.chatEndpoint;

  setUpSignIn(supabase, config, language);
  byId("sign-out", HTMLButtonElement).addEventListener("click", () => void supabase.auth.signOut({ scope: "local" }));

  let visitor: string | undefined;
  supabase.auth.onAuthStateChange((_event, session) => {
    // The next visitor must not see, or go on with, the conversation of the one before.
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

/** The help-centre page: visitors sign in, ask, and see how the answer is found. */
import { createClient } from "@supabase/supabase-js";
import type { EvidenceChatElement } from "../src/index.js";
import { type DemoConfig, loadConfig } from "./config.js";
import { copyOnClick } from "./copy.js";
import { EvidencePanel } from "./evidence/evidence-panel.js";
import { byId, showView } from "./page.js";
import { setUpSignIn } from "./sign-in.js";
import { StagesPanel } from "./stages/stages-panel.js";
import { setUpSwitches } from "./switches.js";
import { showExamples } from "./try-these.js";

// The page loads the widget's script first, as any page does; this module only needs the types.
const chat = byId("chat", HTMLElement) as EvidenceChatElement;
const panels = [new StagesPanel(chat), new EvidencePanel(chat)];
copyOnClick(byId("snippet-copy", HTMLButtonElement), () => byId("snippet", HTMLElement).textContent);
byId("open-chat", HTMLButtonElement).addEventListener("click", () => chat.open());
setUpSwitches(chat);

/** The title of a page without the sample shop. */
const TITLE = "Evidence Chat";

loadConfig().then(start, () => showView("failed"));

function start(config: DemoConfig): void {
  if (config.hasOwnDocuments) showOwnDocuments();
  else showExamples(chat);
  const supabase = createClient(config.supabaseUrl, config.supabasePublishableKey);
  chat.tokenProvider = async () => {
    const { data, error } = await supabase.auth.getSession();
    // For instance offline, which is not a sign-out.
    if (error) throw error;
    return data.session?.access_token ?? null;
  };
  if (config.onDeviceModelUrl) chat.setAttribute("writer-model-url", config.onDeviceModelUrl);
  if (config.chatEndpoint) chat.endpoint = config.chatEndpoint;

  setUpSignIn(supabase, config);
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

/** Removes what is only true of the sample shop: its name, the example questions and the sample answer. */
function showOwnDocuments(): void {
  for (const part of document.querySelectorAll("[data-sample]")) part.remove();
  byId("brand-name", HTMLElement).textContent = TITLE;
  document.title = TITLE;
  chat.removeAttribute("heading");
}

function clear(): void {
  chat.clear();
  for (const panel of panels) panel.clear();
}

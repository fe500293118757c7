/** The help-centre page: sign in, then ask. */
import { createClient } from "@supabase/supabase-js";
import type { EvidenceChatElement } from "../src/index.js";
import { type DemoConfig, loadConfig } from "./config.js";
import { EXAMPLES } from "./examples.js";
import { byId, showView } from "./page.js";
import { setUpSignIn } from "./sign-in.js";

loadConfig().then(start, () => {
  byId("page-error", HTMLElement).textContent = "The help centre could not be loaded. Please try again later.";
  showView("failed");
});

function start(config: DemoConfig): void {
  const supabase = createClient(config.supabaseUrl, config.supabasePublishableKey);
  // Registered by the widget's own script, which the page loads first, as any page would.
  const chat = byId("chat", customElements.get("evidence-chat") as typeof EvidenceChatElement);
  chat.endpoint = config.chatEndpoint;
  chat.modelUrl = config.modelUrl;
  chat.tokenProvider = async () => (await supabase.auth.getSession()).data.session?.access_token ?? null;

  setUpSignIn(supabase, config);
  showExamples(chat);
  byId("sign-out", HTMLButtonElement).addEventListener("click", () => void supabase.auth.signOut({ scope: "local" }));

  let visitor: string | undefined;
  supabase.auth.onAuthStateChange((_event, session) => {
    // The next visitor must not see, or go on with, the conversation of the one before.
    if (visitor !== undefined && visitor !== session?.user.id) chat.reset();
    visitor = session?.user.id;
    byId("account-email", HTMLElement).textContent = session?.user.email ?? "";
    showView(session ? "chat" : "sign-in");
  });
}

function showExamples(chat: EvidenceChatElement): void {
  const chips = EXAMPLES.map((question) => {
    const chip = document.createElement("button");
    chip.type = "button";
    chip.textContent = question;
    chip.addEventListener("click", () => void chat.ask(question));
    return chip;
  });
  byId("examples", HTMLElement).append(...chips);
}

/** The help-centre page: visitors sign in, ask, and see how the answer is found. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { byId } from "../pages/by-id.js";
import { signInForm } from "../pages/sign-in.js";
import { button, element } from "../src/dom/element.js";
import type { EvidenceChatElement } from "../src/index.js";
import { EvidencePanel } from "./evidence-panel.js";
import { StagesPanel } from "./stages-panel.js";
import { setUpSwitches } from "./switches.js";

/** The demo server's /config.json. */
interface DemoConfig {
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

/** The title of a page without the sample shop. */
const TITLE = "Evidence Chat";

/** Questions that the sample documents answer, and one that they do not, with what each demonstrates. */
const EXAMPLES = [
  ["How long do I have to return an item?", "A plain fact from one page."],
  ["What does standard delivery cost?", "A price, quoted with its conditions."],
  ["Can I combine gift cards?", "A detail from deep inside a page."],
  ["How do I get rust off my frying pan?", "The page uses other words: found by meaning."],
  ["What is the capital of France?", "Not in our help pages. It says so instead of guessing."],
] as const;

// The page loads the widget's script first, as any page does; this module only needs the types.
const chat = byId("chat", HTMLElement) as EvidenceChatElement;
const panels = [new StagesPanel(chat), new EvidencePanel(chat)];
byId("open-chat", HTMLButtonElement).addEventListener("click", () => chat.open());
setUpSwitches(chat);
start().catch(() => showView("failed"));

async function start(): Promise<void> {
  const response = await fetch("/config.json");
  if (!response.ok) throw new Error(`/config.json answered with status ${response.status}.`);
  const config = (await response.json()) as DemoConfig;
  if (config.hasOwnDocuments) showOwnDocuments();
  else showExamples();
  const supabase = createClient(config.supabaseUrl, config.supabasePublishableKey);
  chat.tokenProvider = async () => {
    const { data, error } = await supabase.auth.getSession();
    // An error, such as a lost network, is not a sign-out.
    if (error) throw error;
    return data.session?.access_token ?? null;
  };
  if (config.onDeviceModelUrl) chat.setAttribute("writer-model-url", config.onDeviceModelUrl);
  if (config.chatEndpoint) chat.endpoint = config.chatEndpoint;
  followUser(supabase, config);
}

function followUser(supabase: SupabaseClient, { demoEmail, demoPassword }: DemoConfig): void {
  const hint = demoEmail === "" ? undefined : element("p", {}, "A test login is filled in for you.");
  const head = [element("h2", {}, "Sign in"), hint];
  const login = { email: demoEmail, password: demoPassword };
  byId("sign-in", HTMLElement).append(signInForm(supabase, { head, login, mayCreate: true }));
  const signOut = () => void supabase.auth.signOut({ scope: "local" });
  byId("sign-out", HTMLButtonElement).addEventListener("click", signOut);
  let visitor: string | undefined;
  supabase.auth.onAuthStateChange((_event, session) => {
    // The next visitor must not see or continue the previous conversation.
    if (visitor !== undefined && visitor !== session?.user.id) for (const each of [chat, ...panels]) each.clear();
    visitor = session?.user.id;
    byId("account-email", HTMLElement).textContent = session?.user.email ?? "";
    showView(session ? "chat" : "sign-in");
  });
}

/** Shows one part of the page. */
function showView(view: "sign-in" | "chat" | "failed"): void {
  const focused = document.activeElement;
  document.body.dataset.view = view;
  // A visitor whose focus was in the hidden part continues at the top of the other one.
  if (focused instanceof HTMLElement && focused.offsetParent === null && focused !== document.body)
    document.querySelector<HTMLElement>(`[data-show="${view}"] h1`)?.focus();
}

/** Removes what is only true of the sample shop: its name and the example questions. */
function showOwnDocuments(): void {
  for (const part of document.querySelectorAll("[data-sample]")) part.remove();
  byId("brand-name", HTMLElement).textContent = TITLE;
  document.title = TITLE;
  chat.removeAttribute("heading");
}

/** Shows example questions. A click asks one and brings the chat into view. */
function showExamples(): void {
  const ask = (question: string) => {
    if (chat.mode === "floating") chat.open();
    else chat.scrollIntoView({ block: "nearest" });
    void chat.ask(question);
  };
  const items = EXAMPLES.map(([question, note]) => {
    const texts = [element("strong", {}, question), element("span", {}, note)];
    return element(
      "li",
      {},
      button({ class: "example" }, () => ask(question), ...texts),
    );
  });
  byId("examples", HTMLElement).replaceChildren(...items);
}

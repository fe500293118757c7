// The frame of the pages for administrators: which project, who is signed in, and which page is shown. The insights are the first
// page; another one gets a link in the navigation and a function like `showInsights`.
import { createClient, type Session, type SupabaseClient } from "@supabase/supabase-js";
import { button, element } from "../src/dom/element.js";
import { type Assistant, ForbiddenError, Insights } from "./data.js";
import { showInsights } from "./insights.js";
import { announce, byId } from "./page.js";
import { loadProject } from "./project.js";
import { signInForm } from "./sign-in.js";

const content = byId("content", HTMLElement);
/** Stops the page that is shown. */
let stop: (() => void) | undefined;

function show(state: string, ...children: readonly Node[]): void {
  stop?.();
  stop = undefined;
  document.body.dataset.state = state;
  content.replaceChildren(...children);
}

function showLoading(): void {
  show("loading", element("p", { class: "notice" }, "Loading…"));
}

/** An error that the reader can try again. */
function showError(error: unknown, retry: () => void): void {
  const message = error instanceof Error ? error.message : String(error);
  show(
    "error",
    element("section", { class: "card narrow" }, element("h1", {}, "This did not work"), element("p", {}, message)),
  );
  content.firstElementChild?.append(button({ class: "primary" }, retry, "Try again"));
  announce(`Error: ${message}`);
}

function showForbidden({ user }: Session): void {
  const entry = element("code", {}, `sub:${user.id}`);
  show(
    "forbidden",
    element(
      "section",
      { class: "card narrow" },
      element("h1", {}, "For administrators only"),
      element("p", {}, `${user.email ?? "This user"} may not read the insights.`),
      element(
        "p",
        {},
        "The owner of the project can allow it: in the table ",
        element("code", {}, "chat_settings"),
        ", add ",
        entry,
        " to the column ",
        element("code", {}, "administrators"),
        ". Then reload this page.",
      ),
    ),
  );
  announce("Only administrators may read the insights.");
}

async function showSignedIn(client: SupabaseClient, session: Session): Promise<void> {
  const insights = new Insights(client);
  showLoading();
  let assistants: Assistant[];
  try {
    assistants = await insights.assistants();
  } catch (error) {
    if (error instanceof ForbiddenError) showForbidden(session);
    else showError(error, () => void showSignedIn(client, session));
    return;
  }
  show("insights");
  stop = showInsights(content, insights, assistants);
}

function showSession(client: SupabaseClient, session: Session | null): void {
  byId("account", HTMLElement).hidden = session === null;
  byId("account-email", HTMLElement).textContent = session?.user.email ?? "";
  if (session) void showSignedIn(client, session);
  else show("sign-in", signInForm(client));
}

async function start(): Promise<void> {
  showLoading();
  try {
    const project = await loadProject();
    const client = createClient(project.supabase_url, project.publishable_key, {
      auth: {
        // Ends with the tab: administrators may use shared computers.
        storage: sessionStorage,
        storageKey: "evidence-chat-administration",
        detectSessionInUrl: false,
      },
    });
    byId("sign-out", HTMLButtonElement).addEventListener("click", () => void client.auth.signOut({ scope: "local" }));
    let shownUser: string | null | undefined;
    client.auth.onAuthStateChange((_event, session) => {
      // A refreshed token changes nothing that is shown.
      const user = session?.user.id ?? null;
      if (user === shownUser) return;
      const wasShown = shownUser !== undefined;
      shownUser = user;
      // Calls of the client must not run inside this callback, which holds its lock.
      setTimeout(() => {
        showSession(client, session);
        if (wasShown) content.focus();
      });
    });
  } catch (error) {
    showError(error, () => void start());
  }
}

void start();

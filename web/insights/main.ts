// The frame of the pages for administrators: which project, who is signed in, and which page is shown. A further page gets a link in
// the navigation and an entry in `PAGES`.
import { createClient, type Session, type SupabaseClient } from "@supabase/supabase-js";
import { byId } from "../pages/by-id.js";
import { signInForm } from "../pages/sign-in.js";
import { button, element } from "../src/dom/element.js";
import { type Assistant, type CallDatabase, databaseOf, ForbiddenError, readInsights } from "./data.js";
import { showChanges } from "./changes.js";
import { showInsights } from "./insights.js";
import { announce, notice, reasonOf, type Shown } from "./page.js";
import { showSettings } from "./settings/page.js";

const content = byId("content", HTMLElement);
let shown: Shown | undefined;

/** Dependencies of a page. */
interface Context {
  readonly call: CallDatabase;
  readonly session: Session;
  readonly assistants: readonly Assistant[];
}

/** The pages by the fragment of their address. */
const PAGES = {
  insights: {
    title: "Insights",
    show: ({ call, assistants }: Context): Shown => ({ stop: showInsights(content, call, assistants) }),
  },
  settings: { title: "Settings", show: ({ call }: Context): Shown => showSettings(content, call) },
  changes: {
    title: "Changes",
    show: ({ call, session }: Context): Shown => showChanges(content, call, session.user.id),
  },
};
type PageName = keyof typeof PAGES;

function addressedPage(): PageName {
  const name = location.hash.slice(1);
  return Object.hasOwn(PAGES, name) ? (name as PageName) : "insights";
}

function show(state: string, ...children: readonly Node[]): void {
  shown?.stop();
  shown = undefined;
  document.body.dataset.state = state;
  content.replaceChildren(...children);
}

function showLoading(): void {
  show("loading", notice("Loading…"));
}

/** An error that the reader can try again. */
function showError(error: unknown, retry: () => void): void {
  const message = reasonOf(error);
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

async function showSignedIn(call: CallDatabase, session: Session): Promise<void> {
  showLoading();
  let assistants: Assistant[];
  try {
    assistants = await readInsights(call, "chat_insights_assistants");
  } catch (error) {
    if (error instanceof ForbiddenError) showForbidden(session);
    else showError(error, () => void showSignedIn(call, session));
    return;
  }
  const context = { call, session, assistants };
  let page = addressedPage();
  showPage(page, context);
  const follow = async () => {
    const to = addressedPage();
    if (to === page) return;
    if ((await shown?.mayLeave?.()) === false) {
      history.replaceState(null, "", `#${page}`);
      return;
    }
    page = to;
    showPage(page, context);
    content.focus();
  };
  // Replaced when another user signs in.
  onhashchange = () => {
    if (document.body.dataset.state === page) void follow();
  };
}

function showPage(name: PageName, context: Context): void {
  const { title, show: showContent } = PAGES[name];
  show(name);
  document.title = `${title} · Evidence Chat`;
  const links = byId("pages", HTMLElement);
  links.hidden = false;
  for (const link of links.querySelectorAll("a")) link.ariaCurrent = link.hash === `#${name}` ? "page" : null;
  shown = showContent(context);
}

function showSession(client: SupabaseClient, session: Session | null): void {
  byId("account", HTMLElement).hidden = session === null;
  byId("pages", HTMLElement).hidden = true;
  byId("account-email", HTMLElement).textContent = session?.user.email ?? "";
  if (session) void showSignedIn(databaseOf(client), session);
  else {
    const text = element("p", {}, "Sign in with the account of an administrator.");
    show("sign-in", signInForm(client, { head: [element("h1", {}, "Administration"), text] }));
  }
}

async function signOut({ auth }: SupabaseClient): Promise<void> {
  if ((await shown?.mayLeave?.()) !== false) await auth.signOut({ scope: "local" });
}

/** The Supabase project of the chat, as `GET /api/project` describes it. */
interface Project {
  /** URL without a trailing slash. */
  readonly supabase_url: string;
  readonly publishable_key: string;
}

/** Asks the server of this page. Fails with a sentence for the reader. */
async function loadProject(): Promise<Project> {
  const response = await fetch("/api/project").catch(() => undefined);
  if (!response?.ok) {
    throw new Error(`The server did not say which Supabase project it uses (${response?.status ?? "no connection"}).`);
  }
  return (await response.json()) as Project;
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
    byId("sign-out", HTMLButtonElement).addEventListener("click", () => void signOut(client));
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

addEventListener("beforeunload", (event) => {
  if (shown?.isDirty?.()) event.preventDefault();
});
void start();

import type { SupabaseClient } from "@supabase/supabase-js";
import type { DemoConfig } from "./config.js";
import { byId } from "./page.js";

/** Sets up the form that signs a visitor in or creates an account. */
export function setUpSignIn({ auth }: SupabaseClient, { demoEmail, demoPassword }: DemoConfig): void {
  const form = byId("auth-form", HTMLFormElement);
  const email = byId("email", HTMLInputElement);
  const password = byId("password", HTMLInputElement);
  const message = byId("auth-message", HTMLElement);
  const submit = byId("auth-submit", HTMLButtonElement);
  let signingUp = false;
  let isBusy = false;

  const say = (text: string, kind: "error" | "info" = "error") => {
    message.textContent = text;
    message.dataset.kind = kind;
  };
  const showTexts = () => {
    const [title, other] = signingUp ? ["Create an account", "Sign in"] : ["Sign in", "Create an account"];
    byId("auth-title", HTMLElement).textContent = title;
    submit.textContent = title;
    byId("auth-question", HTMLElement).textContent = signingUp ? "Already have an account?" : "New here?";
    byId("auth-switch", HTMLElement).textContent = other;
    byId("test-login", HTMLElement).hidden = signingUp || demoEmail === "";
  };
  const fillIn = () => {
    password.autocomplete = signingUp ? "new-password" : "current-password";
    email.value = signingUp ? "" : demoEmail;
    password.value = signingUp ? "" : demoPassword;
    say("");
  };

  byId("auth-switch", HTMLButtonElement).addEventListener("click", () => {
    signingUp = !signingUp;
    showTexts();
    fillIn();
    email.focus();
  });

  const signIn = async () => {
    if (isBusy || !form.reportValidity()) return;
    const credentials = { email: email.value, password: password.value };
    // Not `disabled`, which would lose the focus.
    isBusy = true;
    submit.ariaDisabled = "true";
    say("");
    const { data, error } = signingUp ? await auth.signUp(credentials) : await auth.signInWithPassword(credentials);
    isBusy = false;
    submit.ariaDisabled = null;
    if (error) say(error.message);
    else if (!data.session) say("Please check your e-mail to confirm your account.", "info");
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void signIn();
  });

  showTexts();
  fillIn();
}

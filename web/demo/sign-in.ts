import type { SupabaseClient } from "@supabase/supabase-js";
import type { DemoConfig } from "./config.js";
import { byId } from "./page.js";

/** Wires the form that signs a visitor in or, switched over, up. */
export function setUpSignIn({ auth }: SupabaseClient, { demoEmail, demoPassword }: DemoConfig): void {
  const form = byId("auth-form", HTMLFormElement);
  const email = byId("email", HTMLInputElement);
  const password = byId("password", HTMLInputElement);
  const message = byId("auth-message", HTMLElement);
  const submit = byId("auth-submit", HTMLButtonElement);
  let signingUp = false;

  const say = (text: string, kind: "error" | "info" = "error") => {
    message.textContent = text;
    message.dataset.kind = kind;
  };
  const showMode = () => {
    const title = signingUp ? "Create an account" : "Sign in";
    byId("auth-title", HTMLElement).textContent = title;
    submit.textContent = title;
    byId("auth-question", HTMLElement).textContent = signingUp ? "Already have an account?" : "New here?";
    byId("auth-switch", HTMLElement).textContent = signingUp ? "Sign in" : "Create an account";
    password.autocomplete = signingUp ? "new-password" : "current-password";
    email.value = signingUp ? "" : demoEmail;
    password.value = signingUp ? "" : demoPassword;
    say("");
  };

  byId("auth-switch", HTMLButtonElement).addEventListener("click", () => {
    signingUp = !signingUp;
    showMode();
    email.focus();
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (!form.reportValidity()) return;
    const credentials = { email: email.value, password: password.value };
    submit.disabled = true;
    say("");
    const { data, error } = signingUp ? await auth.signUp(credentials) : await auth.signInWithPassword(credentials);
    submit.disabled = false;
    if (error) say(error.message);
    else if (!data.session) say("Please check your e-mail to confirm your account.", "info");
  });

  showMode();
}

import type { SupabaseClient } from "@supabase/supabase-js";
import { element } from "../src/dom/element.js";

/** The form that signs an administrator in with e-mail and password. */
export function signInForm({ auth }: SupabaseClient): HTMLElement {
  const email = element("input", { id: "email", type: "email", name: "email", autocomplete: "username" });
  const password = element("input", {
    id: "password",
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  email.required = true;
  password.required = true;
  const message = element("p", { class: "error", id: "sign-in-message", role: "alert" });
  const submit = element("button", { type: "submit", class: "primary" }, "Sign in");
  const form = element(
    "form",
    { class: "card narrow" },
    element("h1", {}, "Administration"),
    element("p", {}, "Sign in with the account of an administrator."),
    element("label", { for: "email" }, "E-mail"),
    email,
    element("label", { for: "password" }, "Password"),
    password,
    message,
    submit,
  );
  let isBusy = false;
  const signIn = async () => {
    if (isBusy) return;
    // Not `disabled`, which would lose the focus.
    isBusy = true;
    submit.ariaDisabled = "true";
    message.textContent = "";
    const { error } = await auth.signInWithPassword({ email: email.value, password: password.value });
    isBusy = false;
    submit.ariaDisabled = null;
    if (error) message.textContent = error.message;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void signIn();
  });
  return form;
}

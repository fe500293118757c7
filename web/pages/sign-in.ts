import type { SupabaseClient } from "@supabase/supabase-js";
import { type Child, element } from "../src/dom/element.js";

interface SignInOptions {
  /** Content above the fields. */
  readonly head: readonly Child[];
  /** Values of the fields at first. */
  readonly login?: { readonly email: string; readonly password: string };
  /** Whether visitors may create an account. */
  readonly mayCreate?: boolean;
}

/** Creates a form that signs in with e-mail and password, or creates an account. */
export function signInForm({ auth }: SupabaseClient, { head, login, mayCreate }: SignInOptions): HTMLElement {
  const email = element("input", { id: "email", type: "email", name: "email", autocomplete: "username" });
  const password = element("input", {
    id: "password",
    type: "password",
    name: "password",
    autocomplete: "current-password",
  });
  email.value = login?.email ?? "";
  password.value = login?.password ?? "";
  for (const field of [email, password]) field.required = true;
  const message = element("p", { class: "error", id: "auth-message", role: "alert" });
  const signIn = element("button", { id: "auth-submit", type: "submit", class: "primary" }, "Sign in");
  const create = element("button", { id: "auth-create", type: "submit" }, "Create an account");
  const form = element(
    "form",
    { class: "card narrow" },
    ...head,
    element("label", { for: "email" }, "E-mail"),
    email,
    element("label", { for: "password" }, "Password"),
    password,
    message,
    signIn,
    mayCreate ? create : undefined,
  );
  let isBusy = false;
  const send = async (isNew: boolean) => {
    if (isBusy) return;
    // Not `disabled`, which would lose the focus.
    isBusy = true;
    signIn.ariaDisabled = "true";
    message.textContent = "";
    const credentials = { email: email.value, password: password.value };
    const { data, error } = await (isNew ? auth.signUp(credentials) : auth.signInWithPassword(credentials));
    isBusy = false;
    signIn.ariaDisabled = null;
    if (error) message.textContent = error.message;
    else if (!data.session) message.textContent = "Please check your e-mail to confirm your account.";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(event.submitter === create);
  });
  return form;
}

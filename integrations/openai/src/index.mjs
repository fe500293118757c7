export { signIn } from "./account.mjs";
export { createAdapter } from "./adapter.mjs";

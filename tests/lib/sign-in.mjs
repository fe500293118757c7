/**
 * Fills in and sends the sign-in form of the pages for administrators. Does not wait for the answer.
 * @param {import("playwright-core").Page} page
 */
export async function sendSignIn(page, email, password) {
  const field = page.getByLabel("E-mail");
  // In Firefox, Playwright cannot select what is in a field for e-mail addresses, and would only add to it.
  await field.evaluate((/** @type {HTMLInputElement} */ input) => (input.value = ""));
  await field.fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

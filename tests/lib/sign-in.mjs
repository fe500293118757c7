/**
 * Fills in and sends the sign-in form of the pages for administrators. Does not wait for the answer.
 * @param {import("playwright-core").Page} page
 */
export async function sendSignIn(page, email, password) {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

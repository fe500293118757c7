import { writeFile } from "node:fs/promises";

/** Puts pictures beside each other into one file. */
export async function sideBySide(page, pictures, file) {
  const images = pictures
    .map((picture) => `<img alt="" src="data:image/png;base64,${picture.toString("base64")}">`)
    .join("");
  await page.goto("about:blank");
  await page.setViewportSize({ width: 1800, height: 700 });
  await page.setContent(
    `<style>body{margin:0;width:max-content;display:flex;gap:12px;padding:12px;background:#8b93a1}img{display:block}</style>${images}`,
  );
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  await writeFile(file, await page.locator("body").screenshot());
}

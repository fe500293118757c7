import { writeFile } from "node:fs/promises";

/** Space between and around the pictures, in pixels. */
const GAP = 12;
const BACKGROUND = "#8b93a1";
const QUALITY = 0.8;

/** Places PNG pictures side by side in one WebP file. */
export async function sideBySide(page, pictures, file) {
  await page.goto("about:blank");
  const sources = pictures.map((picture) => `data:image/png;base64,${picture.toString("base64")}`);
  const webp = await page.evaluate(draw, [sources, { gap: GAP, background: BACKGROUND, quality: QUALITY }]);
  await writeFile(file, Buffer.from(webp, "base64"));
}

/** Runs in the page. */
async function draw([sources, { gap, background, quality }]) {
  const images = await Promise.all(
    sources.map(async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      return image;
    }),
  );
  const canvas = document.createElement("canvas");
  canvas.width = images.reduce((width, image) => width + image.width + gap, gap);
  canvas.height = Math.max(...images.map(({ height }) => height)) + 2 * gap;
  const context = canvas.getContext("2d");
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  let x = gap;
  for (const image of images) {
    context.drawImage(image, x, gap);
    x += image.width + gap;
  }
  return canvas.toDataURL("image/webp", quality).split(",")[1];
}
